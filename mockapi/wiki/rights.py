"""User groups and what their members may do, as on a wiki that was just installed.

What hides revisions is the exception: administrators may do it and see what is hidden, so that a test can.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

EVERYBODY: Final = "*"
IMPLICIT: Final = (EVERYBODY, "user", "autoconfirmed")

RIGHTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        group: tuple(rights.split())
        for group, rights in {
            "*": "createaccount read edit createpage createtalk viewmyprivateinfo editmyprivateinfo editmyoptions",
            "user": "move move-subpages move-rootuserpages move-categorypages movefile read edit createpage createtalk "
            "upload reupload reupload-shared minoredit editmyusercss editmyuserjson editmyuserjs editmyuserjsredirect "
            "sendemail applychangetags changetags editcontentmodel viewmywatchlist editmywatchlist",
            "autoconfirmed": "autoconfirmed editsemiprotected",
            "bot": "bot autoconfirmed editsemiprotected nominornewtalk autopatrol suppressredirect apihighlimits",
            "sysop": "block createaccount delete bigdelete deletedhistory deletedtext undelete editinterface "
            "editsitejson edituserjson import importupload move move-subpages move-rootuserpages move-categorypages "
            "patrol autopatrol protect editprotected rollback upload reupload reupload-shared unwatchedpages "
            "autoconfirmed editsemiprotected ipblock-exempt blockemail markbotedits apihighlimits browsearchive "
            "noratelimit movefile unblockself suppressredirect mergehistory managechangetags deletechangetags "
            "deleterevision deletelogentry suppressrevision viewsuppressed",
            "interface-admin": "editinterface editsitecss editsitejson editsitejs editusercss edituserjson edituserjs",
            "bureaucrat": "userrights noratelimit renameuser",
            "suppress": "hideuser suppressrevision viewsuppressed suppressionlog deleterevision deletelogentry",
        }.items()
    }
)
GROUPS: Final = tuple(group for group in RIGHTS if group not in IMPLICIT)


def rights_of(groups: Iterable[str]) -> tuple[str, ...]:
    """What members of all `groups` together may do, each right once."""
    return tuple(dict.fromkeys(right for group in groups for right in RIGHTS.get(group, ())))
