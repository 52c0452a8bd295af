"""All faults on parts by name."""

from devkit.faults.fault import Fault
from devkit.faults.kafka.add_partitions import AddPartitions
from devkit.faults.kafka.client_quota import ClientQuota
from devkit.faults.kafka.move_leader import MoveLeader
from devkit.faults.kafka.protocol_error import KafkaProtocolError
from devkit.faults.kafka.reassign import Reassign
from devkit.faults.kafka.recreate_topic import RecreateTopic
from devkit.faults.kafka.topic_settings import ChangedTopicSettings
from devkit.faults.machine.cpu_load import CpuLoad
from devkit.faults.network.bandwidth import NetworkBandwidth
from devkit.faults.network.blackhole import NetworkBlackhole
from devkit.faults.network.cut import NetworkCut
from devkit.faults.network.dns_error import DnsError
from devkit.faults.network.half_open import NetworkHalfOpen
from devkit.faults.network.latency import NetworkLatency
from devkit.faults.network.reset import NetworkReset
from devkit.faults.parts.copy import Copy
from devkit.faults.parts.kill import Kill
from devkit.faults.parts.pause import Pause
from devkit.faults.parts.restart import Restart
from devkit.faults.parts.restore import Restore
from devkit.faults.programs.kill_process import KillProcess
from devkit.faults.programs.lose_checkpoint import LoseCheckpoint
from devkit.faults.programs.stop_process import StopProcess
from devkit.faults.store.error import StoreAnswersError
from devkit.faults.store.slow import StoreUploadsSlow
from located_config.near import near_miss
from located_config.registry import Registry

_ALL: tuple[type[Fault], ...] = (
    Pause,
    Kill,
    Restart,
    Copy,
    Restore,
    AddPartitions,
    RecreateTopic,
    ChangedTopicSettings,
    ClientQuota,
    MoveLeader,
    Reassign,
    KafkaProtocolError,
    NetworkLatency,
    NetworkBandwidth,
    NetworkCut,
    NetworkBlackhole,
    NetworkReset,
    NetworkHalfOpen,
    DnsError,
    StoreAnswersError,
    StoreUploadsSlow,
    KillProcess,
    StopProcess,
    LoseCheckpoint,
    CpuLoad,
)
FAULTS: Registry[type[Fault]] = Registry("fault on a part", {fault.name: fault for fault in _ALL})


def register(fault: type[Fault]) -> type[Fault]:
    """Add a fault of another package; usable as a decorator. Raises ValueError when the name is taken."""
    FAULTS.add(fault.name, fault)
    return fault


def unknown_fault(name: str) -> str:
    """The message for a name that is no fault's."""
    return f"unknown fault {name!r}; {near_miss(name, FAULTS)}"
