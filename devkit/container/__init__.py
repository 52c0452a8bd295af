"""A container's limits without a container: a program's processes are sampled, and killed when they are over.

    processes of the program ─▶ TreeMemory (by process and kind) ─┐
    files in its scratch directory ─▶ bytes ──────────────────────┴▶ ContainerWatch: over a limit? ─▶ SIGKILL, as 137

No cgroup is made on the machine, so limits are enforced by sampling: a burst between two samples passes, as it does
where a kubelet checks a pod's disk. The report says so. Where an engine enforces the memory limit
(`devkit.programs.contained`), samples only show which process held how much.
"""
