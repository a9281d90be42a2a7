"""Random schemas, and what a later slice may have of them: the same, other parts, wider ones, others altogether."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

if TYPE_CHECKING:
    from random import Random

LEAVES: Final[tuple[DataType, ...]] = (
    *(ByteType(), ShortType(), IntegerType(), LongType(), FloatType(), DoubleType(), BooleanType(), StringType()),
    *(BinaryType(), DateType(), TimestampType(), TimestampNTZType(), DecimalType(10, 2), DecimalType(12, 2)),
)
_NAMES: Final = ("a", "b", "x-y", "p.q", "Ab")


def random_type(chance: Random, depth: int = 2) -> DataType:
    kind = chance.randrange(6) if depth else 5
    match kind:
        case 0:
            return ArrayType(random_type(chance, depth - 1), containsNull=chance.random() < 0.5)
        case 1:
            key = chance.choice(LEAVES)
            return MapType(key, random_type(chance, depth - 1), valueContainsNull=chance.random() < 0.5)
        case 2 | 3:
            return random_struct(chance, depth - 1)
    return chance.choice(LEAVES)


def random_struct(chance: Random, depth: int = 2) -> StructType:
    names = chance.sample(_NAMES, chance.randint(1, 3))
    return StructType([StructField(name, random_type(chance, depth), chance.random() < 0.5) for name in names])


def later(chance: Random, kind: DataType) -> DataType:
    """A type as a later slice has it: mostly one that is the same in the main."""
    draw = chance.random()
    if draw < 0.06:
        return chance.choice(LEAVES)
    match kind:
        case ArrayType():
            return ArrayType(later(chance, kind.elementType), containsNull=chance.random() < 0.5)
        case MapType():
            key, value = later(chance, kind.keyType), later(chance, kind.valueType)
            return MapType(key, value, valueContainsNull=chance.random() < 0.5)
        case StructType():
            return later_struct(chance, kind)
    return NullType() if draw < 0.1 else kind


def later_struct(chance: Random, schema: StructType, *, is_table: bool = False) -> StructType:
    fields = [StructField(field.name, later(chance, field.dataType), chance.random() < 0.5) for field in schema]
    if chance.random() < 0.3:
        chance.shuffle(fields)
    if chance.random() < 0.3:
        fields.append(StructField("new", random_type(chance, 1)))
    if not is_table and len(fields) > 1 and chance.random() < 0.1:
        fields.pop()
    if chance.random() < 0.1:
        fields[0] = StructField(fields[0].name.upper(), fields[0].dataType)
    return StructType(fields)
