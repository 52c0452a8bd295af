"""A container's limits without a container: a program's processes are looked at, and killed when they are over.

    processes of the program ─▶ TreeMemory (by process and kind) ─┐
    files in its scratch directory ─▶ bytes ──────────────────────┴▶ ContainerWatch: over a limit? ─▶ SIGKILL, as 137

No cgroup is made on the machine, so what is enforced here is what was seen at a look: a burst that comes and goes
between two looks passes, as it does where a kubelet looks at a pod's disk. The report says so. Where an engine holds a
program to its memory (`devkit.programs.contained`), looks only tell who held what.
"""
