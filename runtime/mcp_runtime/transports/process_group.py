"""The process group of a child: how it is made, signalled and found empty.

POSIX has process groups, Windows has job objects; both have the interface `ProcessGroup`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Protocol


class ProcessGroup(Protocol):
    """A child and all processes it starts; made as soon as the child runs."""

    popen_options: Mapping[str, Any]
    """Arguments of `subprocess.Popen` needed to make the group."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None: ...
    def terminate(self) -> None:
        """Ask every process to end."""
        ...

    def kill(self) -> None: ...
    def is_empty(self) -> bool:
        """True if no process of the group is alive; cheap enough to be polled."""
        ...

    def close(self) -> None:
        """Release the system's resources for the group."""
        ...


# ---- POSIX


class PosixGroup:
    """A process group whose leader is the child, in a session of its own."""

    popen_options: Mapping[str, Any] = {"start_new_session": True}

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._id: Final = process.pid
        self._members: set[int] = set()

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)

    def is_empty(self) -> bool:
        # `killpg` succeeds for zombies too, and a child of another process may stay a zombie for
        # long. So members are read from /proc: the known ones first, as a search reads them all.
        self._members = {pid for pid in self._members if _in_group(pid, self._id)}
        return not (self._members or (self._signal(0) and self._find_members()))

    def close(self) -> None:
        """Do nothing: the system forgets a group with its last process."""

    def _signal(self, number: int) -> bool:
        """Send a signal; return False if it reached no process of the group."""
        try:
            os.killpg(self._id, number)
        except OSError:
            return False
        return True

    def _find_members(self) -> bool:
        """Search for living processes of the group; return True if there are any.

        Without /proc the answer is True: zombies count too then.
        """
        if not os.path.exists("/proc/self/stat"):
            return True
        pids = (int(name) for name in os.listdir("/proc") if name.isdecimal())
        self._members = {pid for pid in pids if _in_group(pid, self._id)}
        return bool(self._members)


def _in_group(pid: int, group: int) -> bool:
    """True if the process is alive and in the group."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:  # pid (name) state parent group …
            state, _, process_group = stat.read().rpartition(b")")[2].split()[:3]
    except OSError:
        return False
    return int(process_group) == group and state not in b"ZX"


# ---- Windows


_CREATE_NEW_PROCESS_GROUP: Final = 0x200
_CTRL_BREAK_EVENT: Final = 1
_ACCOUNTING: Final = 1  # JobObjectBasicAccountingInformation
_EXTENDED_LIMITS: Final = 9  # JobObjectExtendedLimitInformation
_KILL_ON_JOB_CLOSE: Final = 0x2000


class _Limits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION; we set only `flags`."""

    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
        ("io", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class _Accounting(ctypes.Structure):
    """JOBOBJECT_BASIC_ACCOUNTING_INFORMATION."""

    _fields_ = (
        ("times", ctypes.c_int64 * 4),
        ("page_faults", ctypes.c_uint32),
        ("processes", ctypes.c_uint32),
        ("active_processes", ctypes.c_uint32),
        ("terminated_processes", ctypes.c_uint32),
    )


def _kernel32() -> Any:
    """Load the functions of Windows, with the types needed for handles of 64 bits."""
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined, unused-ignore]
    handle, number, place = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p
    kernel.CreateJobObjectW.restype = handle
    kernel.CreateJobObjectW.argtypes = (place, ctypes.c_wchar_p)
    kernel.SetInformationJobObject.argtypes = (handle, ctypes.c_int, place, number)
    kernel.QueryInformationJobObject.argtypes = (handle, ctypes.c_int, place, number, place)
    kernel.AssignProcessToJobObject.argtypes = (handle, handle)
    kernel.TerminateJobObject.argtypes = (handle, number)
    kernel.CloseHandle.argtypes = (handle,)
    return kernel


class WindowsJob:
    """A job object, whose processes end when its last handle is closed, by us or by our death.

    Windows has no signal which asks a process to end: `terminate` sends Ctrl-Break, which reaches
    only processes of this console. Processes started by the child in its first microseconds, before
    it is put into the job, are not part of the group.
    """

    popen_options: Mapping[str, Any] = {"creationflags": _CREATE_NEW_PROCESS_GROUP}

    def __init__(self, process: subprocess.Popen[bytes], kernel: Any = None) -> None:
        self._process = process
        self._kernel = _kernel32() if kernel is None else kernel
        self._job: int | None = self._kernel.CreateJobObjectW(None, None)
        limits = _Limits(flags=_KILL_ON_JOB_CLOSE)
        self._kernel.SetInformationJobObject(
            self._job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
        )
        handle = int(process._handle)  # type: ignore[attr-defined]
        if not self._kernel.AssignProcessToJobObject(self._job, handle):
            self.close()  # it is dead already, or in a job that admits no other

    def terminate(self) -> None:
        with suppress(OSError, ValueError):
            os.kill(self._process.pid, _CTRL_BREAK_EVENT)

    def kill(self) -> None:
        if self._job is None:
            with suppress(OSError):
                self._process.kill()
        else:
            self._kernel.TerminateJobObject(self._job, 1)

    def is_empty(self) -> bool:
        if self._job is None:
            return self._process.poll() is not None
        counts = _Accounting()
        is_known = self._kernel.QueryInformationJobObject(
            self._job, _ACCOUNTING, ctypes.byref(counts), ctypes.sizeof(counts), None
        )
        return not is_known or counts.active_processes == 0

    def close(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            self._kernel.CloseHandle(job)


def group_of_this_system() -> type[ProcessGroup]:
    return WindowsJob if sys.platform == "win32" else PosixGroup
