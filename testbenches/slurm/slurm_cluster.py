"""A Slurm cluster of this machine alone, for a test: munged, slurmctld and slurmd on free ports of the loopback.

Its files are in a folder of the test, and SLURM_CONF names its configuration. So a Slurm of the machine's own is not touched.
The daemons end with the test, however it ends.
"""

import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

TOOLS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "scontrol")
CONFIGURATION = """\
ClusterName=t3vp-test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
KillWait=2
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
NodeName={node} NodeHostname={node} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def path_with_daemons():
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def require_tools():
    missing = [tool for tool in TOOLS if shutil.which(tool, path=path_with_daemons()) is None]
    if missing:
        print(f"NOT RUN: {missing[0]} not found (Debian: slurm-wlm munge)")
        sys.exit(1 if os.environ.get("T3VP_ALL_TESTS") else 77)


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def end_with_the_test():
    """In a daemon: it ends when the test's process does."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.daemons = []
        # A job of another cluster may be what runs the test.
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH"))}
        self.environment.update(SLURM_CONF=str(folder / "slurm.conf"), PATH=path_with_daemons())

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        self.folder.chmod(0o755)  # munge requires that everybody may pass
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(mode=0o755)
        munge = self.folder / "munge"
        (munge / "key").write_bytes(os.urandom(1024))
        (munge / "key").chmod(0o600)
        controller_port, node_port = free_ports(2)
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, controller_port=controller_port, node_port=node_port, user=getpass.getuser(),
            node=socket.gethostname().partition(".")[0], cores=len(os.sched_getaffinity(0))), encoding="utf-8")
        # With a named version slurmd does not look for mounted cgroups, which a container may lack. No plugin here uses them.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")
        self.daemon("munged", "--foreground", "--num-threads=10",
                    *(f"--{what}={munge / name}" for what, name in (("socket", "socket"), ("key-file", "key"), ("pid-file", "pid"),
                                                                   ("log-file", "log"), ("seed-file", "seed"))))
        self.wait_until(lambda: (munge / "socket").exists(), 10, "no socket of munged")
        self.daemon("slurmctld", "-D", "-c")
        self.daemon("slurmd", "-D", "-c")
        self.wait_until(lambda: "idle" in self.output("sinfo", "--noheader", "--format=%T", check=False), 60, "no idle node")

    def daemon(self, *command):
        log = open(self.folder / f"{command[0]}.out", "wb")
        self.daemons.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=subprocess.STDOUT, preexec_fn=end_with_the_test))

    def run(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)

    def output(self, *command, check=True):
        done = self.run(*command)
        assert not check or done.returncode == 0, (command, done.stderr)
        return done.stdout

    def states(self, job=None):
        """The states of the jobs that wait or run, array tasks one by one."""
        only = ("--jobs", job) if job else ()
        return self.output("squeue", "--array", "--noheader", "--format=%T", *only, check=False).split()

    def wait_until(self, happened, seconds, what):
        end = time.monotonic() + seconds
        while not happened():
            ended = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if ended or time.monotonic() > end:
                raise TimeoutError(f"{what}; {', '.join(ended) or 'no daemon'} ended\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        return "\n".join(f"== {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-15:])
                         for log in sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out"), *self.folder.glob("munge/log")]))

    def __exit__(self, *_):
        if len(self.daemons) == 3:
            try:
                self.run("scancel", "--user", getpass.getuser())
                end = time.monotonic() + 20
                while self.states() and time.monotonic() < end:
                    time.sleep(0.1)
            except subprocess.TimeoutExpired:
                pass
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
