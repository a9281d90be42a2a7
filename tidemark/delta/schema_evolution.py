"""The effect of a write on a table's columns: none, added and wider columns, or a refusal.

Types are merged like Delta's `mergeSchema`. Nullability of parts is ignored, names must differ in more than case, VOID
becomes any type, structs gain fields, and integers up to 32 bits are one type in files. Unlike Delta, a table keeps its
columns: rows that lack one are refused.
"""

from collections.abc import Iterator

from pyspark.sql import DataFrame
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
    VariantType,
)

from tidemark.system.errors import SchemaChangedError
from tidemark.system.table_location import TableLocation

FORBIDDEN = frozenset(" ,;{}()\n\t=")
_WHOLE = (ByteType(), ShortType(), IntegerType())
_STORED = (
    BinaryType(),
    BooleanType(),
    DateType(),
    DoubleType(),
    FloatType(),
    LongType(),
    StringType(),
    TimestampNTZType(),
    TimestampType(),
    VariantType(),
    *_WHOLE,
)


def grown_schema(path: TableLocation, table: StructType, incoming: StructType) -> StructType:
    """The table's columns after a write of `incoming`, new ones last. All columns are nullable.

    Raises SchemaChangedError if `incoming` has invalid names, lacks a column of the table, or has a type that does not
    merge with the table's or that Delta cannot store.
    """
    if wrong := sorted({*_names_refused(incoming)} - {field.name for field in table}):
        raise SchemaChangedError.of_names(path, wrong)
    known = {field.name.lower(): field.dataType for field in incoming}
    lost = [field.name for field in table if field.name.lower() not in known]
    grown = _merged(table, incoming)
    changed = [_change(field, known.get(field.name.lower())) for field in table if _differs(field, known)]
    if lost or changed or not isinstance(grown, StructType):
        raise SchemaChangedError.of(path, lost, changed)
    foreign = [f"{field.name} {field.dataType.simpleString()}" for field in grown if not _is_stored(field.dataType)]
    if foreign:
        raise SchemaChangedError.of_foreign_types(path, foreign)
    return grown


def _names_refused(kind: DataType, around: str = "") -> Iterator[str]:
    """Names of columns and fields that Delta refuses: duplicates, and names with characters that files cannot hold."""
    if isinstance(kind, StructType):
        seen: set[str] = set()
        for field in kind:
            name = f"{around}{field.name}"
            if FORBIDDEN.intersection(field.name) or field.name.lower() in seen:
                yield name
            seen.add(field.name.lower())
            yield from _names_refused(field.dataType, f"{name}.")
        return
    for part in _parts(kind):
        yield from _names_refused(part, around)


def fitted(rows: DataFrame, schema: StructType) -> DataFrame:
    """The rows with these columns and types, matched by name at every depth."""
    return rows if is_same(rows.schema, schema) else rows.to(schema)


def is_same(left: DataType, right: DataType) -> bool:
    """Whether two types are equal, apart from nullability and metadata."""
    return bool(_plain(left) == _plain(right))


def leaf_types(kind: DataType) -> Iterator[DataType]:
    """The types without parts that a type consists of."""
    parts = _parts(kind)
    if not parts:
        yield kind
    for part in parts:
        yield from leaf_types(part)


def _differs(field: StructField, known: dict[str, DataType]) -> bool:
    new = known.get(field.name.lower())
    return new is not None and _merged(field.dataType, new) is None


def _change(field: StructField, incoming: DataType | None) -> str:
    return f"{field.name} {field.dataType.simpleString()} -> {incoming.simpleString() if incoming else 'nothing'}"


def _merged(there: DataType, new: DataType) -> DataType | None:
    """The type that holds values of both; None if there is none."""
    if isinstance(there, StructType) and isinstance(new, StructType):
        return _merged_fields(there, new)
    if isinstance(there, ArrayType) and isinstance(new, ArrayType):
        element = _merged(there.elementType, new.elementType)
        return element and ArrayType(element)
    if isinstance(there, MapType) and isinstance(new, MapType):
        key, value = _merged(there.keyType, new.keyType), _merged(there.valueType, new.valueType)
        return MapType(key, value) if key is not None and value is not None else None
    if there in _WHOLE and new in _WHOLE:
        return max(there, new, key=_WHOLE.index)
    if isinstance(there, NullType) or is_same(there, new):
        return _plain(new)
    return _plain(there) if isinstance(new, NullType) else None


def _merged_fields(there: StructType, new: StructType) -> StructType | None:
    fields = {field.name.lower(): StructField(field.name, _plain(field.dataType)) for field in there}
    for field in new:
        known = fields.get(field.name.lower(), field)
        kind = _merged(known.dataType, field.dataType)
        if kind is None:
            return None
        fields[field.name.lower()] = StructField(known.name, kind)
    return StructType(list(fields.values()))


def _plain(kind: DataType) -> DataType:
    """The type with all parts nullable."""
    match kind:
        case StructType():
            return StructType([StructField(field.name, _plain(field.dataType)) for field in kind])
        case ArrayType():
            return ArrayType(_plain(kind.elementType))
        case MapType():
            return MapType(_plain(kind.keyType), _plain(kind.valueType))
    return kind


def _parts(kind: DataType) -> list[DataType]:
    match kind:
        case StructType():
            return [field.dataType for field in kind]
        case ArrayType():
            return [kind.elementType]
        case MapType():
            return [kind.keyType, kind.valueType]
    return []


def _is_stored(kind: DataType) -> bool:
    """Whether Delta can store the type. VOID may be a column, or a field beside others."""
    match kind:
        case StructType():
            is_more = bool(kind.fields) and any(not isinstance(leaf, NullType) for leaf in leaf_types(kind))
            return is_more and all(map(_is_stored, _parts(kind)))
        case ArrayType() | MapType():
            return all(_is_stored(leaf) and not isinstance(leaf, NullType) for leaf in leaf_types(kind))
    return kind in _STORED or isinstance(kind, (NullType, DecimalType))
