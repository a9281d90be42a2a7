"""What people do to the lake while the capture works: an older version restored, a second capture beside the first."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from tests.components.chain.taker import Taker
from tests.lake_folder import lake_folder
from tidemark.capture.commits.capture_lease import forget_lease
from tidemark.delta.delta_rs_table import current_version
from tidemark.state_store.database import Database

if TYPE_CHECKING:
    import random

    from tests.components.chain.injections.ground import Ground
    from tests.components.chain.tables import ChainTable

_ATTEMPTS: Final = 50


class Restored:
    """RESTORE of a captured table, which stops it until it begins anew."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        self.table = chance.choice(ground.tables("ods_payments", "ods_lessons", "ods_orders"))
        ground.wait(f"{self.table.name} has versions", lambda: (current_version(ground.path(self.table)) or 0) > 4)
        self._mark = ground.steps()
        _restore(self.table, ground, chance.randint(1, 3))

    def expect(self, ground: Ground) -> None:
        name = self.table.name
        ground.wait(f"{name} stopped as it was restored", lambda: ground.said_since(self._mark, "ForeignWriteError"))
        ground.reload(self.table)


def _restore(table: ChainTable, ground: Ground, back: int) -> None:
    """To the newest version with other files, so many versions ago; beside a merge it may take some attempts."""
    for _ in range(_ATTEMPTS):
        try:
            delta = DeltaTable(str(ground.path(table)))
            files, version = set(delta.file_uris()), delta.version() - back
            while version > 1 and set(DeltaTable(str(ground.path(table)), version=version).file_uris()) == files:
                version -= 1
            delta.restore(version)
        except DeltaError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"{table.name} cannot be restored")


class TwoCaptures:
    """A second data folder captures into the same warehouse for a while, and then the first goes on."""

    number = 0

    def perform(self, ground: Ground, chance: random.Random) -> None:
        TwoCaptures.number += 1
        first = ground.world.taker
        self._mark = ground.steps()
        folder = first.folder.parent / f"capture{TwoCaptures.number}-{chance.randrange(10**6)}"
        servers = ground.world.broker.bootstrap_servers
        with Taker(folder, servers, lake_folder(ground.settings.warehouse), ground.declared) as second:
            ground.wait("the second capture took over", lambda: any("closed" in step for step in second.steps()))
            ground.wait("the first capture refused", lambda: ground.said_since(self._mark, "FencedCaptureError"))
        forget_lease(ground.settings, Database.of(ground.settings))

    def expect(self, ground: Ground) -> None:
        mark = ground.steps()
        ground.wait(
            "the first capture goes on", lambda: any("closed" in step for step in [*ground.world.taker.steps()][mark:])
        )
