"""Runs of machines: counters, tiers, limits, what they print, threads and interrupts."""

import copy
import io
import pickle
import subprocess
import sys
import threading
import time

import pytest
from forth_machines import BOTH, LISTS, lists

from forthwith.forth import ForthMachine64, ForthRunError


def test_counters_are_exact_in_tier_0():
    counts = {
        "5 3 +": 3,
        "3 0 do i drop loop": 12,
        "3 0 do loop": 6,
        "begin 1 until": 3,
        "1 begin dup while 1- repeat": 9,
        "0 case 0 of 1 endof endcase": 4,
        "1 0 /": 2,
        "1 halt": 2,
        "1 if 2 then": 4,
        "0 if 2 then": 2,
        "0 if 2 else 3 then": 4,
    }
    for source, count in counts.items():
        vm = ForthMachine64(source, tier=0)
        vm.run(raise_division_by_zero=False, raise_user_halt=False)
        assert vm.count_instructions == count, source
        vm.run(raise_division_by_zero=False, raise_user_halt=False)
        assert vm.count_instructions == 2 * count, source
        assert vm.count_nanoseconds > 0
        vm.count_reset()
        assert (vm.count_instructions, vm.count_nanoseconds) == (0, 0)
    vm = ForthMachine64(LISTS, tier=0)
    vm.begin({"data": lists([1, 2], [3])})
    vm.stack_push(2)
    vm.resume()
    assert (vm.count_reads, vm.count_writes) == (4, 5)


def test_counters_that_are_not_exact_say_so():
    vm = ForthMachine64(LISTS, tier=1)
    data = lists(*([1.0] for _ in range(1000)))
    vm.begin({"data": data})
    vm.stack_push(1000)
    vm.resume()
    for name in ("count_instructions", "count_reads", "count_writes"):
        with pytest.warns(RuntimeWarning, match="tier=0"):
            assert getattr(vm, name) >= 0
    assert vm.count_nanoseconds > 0


@pytest.mark.parametrize("tier", [0, 1, 2, None])
def test_tiers(tier):
    vm = ForthMachine64(LISTS, tier=tier)
    vm.begin({"data": lists([1, 2], [3])})
    vm.stack_push(2)
    vm.resume()
    assert vm["content"].tolist() == [1, 2, 3]
    assert isinstance(vm.explain(), str)


def test_there_is_no_other_tier():
    for tier in (-1, 3, 300):
        with pytest.raises((ValueError, OverflowError)):
            ForthMachine64("1", tier=tier)


@BOTH
def test_limits(machine):
    vm = machine("1 2 3", stack_size=2)
    assert vm.run(raise_stack_overflow=False) == "stack overflow"
    assert vm.stack == [1, 2]
    vm = machine("1 if 1 if 1 if 5 then then then", recursion_depth=3)
    assert vm.run(raise_recursion_depth_exceeded=False) == "recursion depth exceeded"
    vm = machine("input x output o uint8 x quotedstr-> o", string_buffer_size=3)
    assert vm.run({"x": b'"abcd"'}, raise_quoted_string_missing=False) == "quoted string missing"
    assert vm.run({"x": b'"abc"'}) is None
    vm = machine("output o int64 1 o <- stack 1000000 o dup", output_limit=80)
    with pytest.raises(MemoryError, match="limit"):
        vm.run()
    assert vm["o"].tolist() == [1]
    for wrong in ({"output_resize_factor": 0.0}, {"output_resize_factor": float("nan")}, {"output_initial_size": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            machine("1", **wrong)


@BOTH
def test_printing_goes_to_sys_stdout(machine, capsys, monkeypatch):
    vm = machine('1 . ." two" cr 3 4 .s')
    vm.run()
    assert capsys.readouterr().out == "1 two\n<2> 3 4 <- top "
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    vm.run()
    assert stream.getvalue() == "1 two\n<2> 3 4 <- top "
    monkeypatch.setattr(sys, "stdout", None)
    assert vm.run() is None


def test_what_stdout_raises_is_raised(monkeypatch):
    class Broken:
        def write(self, text):
            raise BrokenPipeError("gone")

    vm = ForthMachine64("1 . 2 . 3")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Broken())
        with pytest.raises(BrokenPipeError, match="gone"):
            vm.run()
    # The program itself went on.
    assert vm.stack == [3]
    vm.begin()


def test_a_machine_cannot_be_used_around_what_it_prints(monkeypatch):
    class Nosy:
        seen = ""

        def write(self, text):
            self.seen += text
            with pytest.raises(RuntimeError, match="the machine is running"):
                vm.stack  # noqa: B018
            with pytest.raises(RuntimeError, match="the machine is running"):
                vm.run()

    vm = ForthMachine64("1 . 2 .")
    nosy = Nosy()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", nosy)
        vm.run()
    assert nosy.seen == "1 2 "


def test_running_releases_the_interpreter():
    # The program ends at a byte that another thread writes, which it can only do if it gets the interpreter.
    flag = bytearray(1)
    vm = ForthMachine64("input x begin 0 x peek until 7")
    timer = threading.Timer(0.1, lambda: flag.__setitem__(0, 1))
    timer.start()
    vm.run({"x": flag})
    assert vm.stack == [7]
    timer.join()


def test_two_threads_at_one_machine():
    flag = bytearray(1)
    vm = ForthMachine64("input x begin 0 x peek until 7")
    thread = threading.Thread(target=vm.run, args=({"x": flag},))
    thread.start()
    busy = ""
    deadline = time.monotonic() + 10
    while not busy and time.monotonic() < deadline:
        try:
            vm.stack  # noqa: B018
        except RuntimeError as error:
            busy = str(error)
    assert "another thread" in busy
    for use in (
        vm.run,
        vm.resume,
        vm.step,
        vm.begin,
        vm.reset,
        vm.stack_pop,
        lambda: vm.outputs,
        lambda: vm.count_reads,
    ):
        with pytest.raises((RuntimeError, ValueError)) as caught:
            use()
        assert "running" in str(caught.value) or "not provided" in str(caught.value)
    flag[0] = 1
    thread.join()
    assert vm.stack == [7]


def test_many_threads_at_one_machine():
    vm = ForthMachine64(LISTS)
    data = lists(*([1.0, 2.0] for _ in range(200)))
    failures = []

    def work():
        for _ in range(100):
            try:
                vm.begin({"data": data})
                vm.stack_push(200)
                vm.resume()
                vm.outputs["content"].sum()
            except RuntimeError as error:
                if "running" not in str(error):
                    failures.append(error)
            except ValueError as error:
                # Another thread ran in between: nothing to resume, or nothing on the stack.
                if not isinstance(error, ForthRunError):
                    failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    vm.begin({"data": data})
    vm.stack_push(200)
    vm.resume()
    assert vm["content"].tolist() == [1.0, 2.0] * 200


def test_machines_of_one_program_in_many_threads():
    data = lists(*([float(at)] * 3 for at in range(100)))
    results = []

    def work():
        vm = ForthMachine64(LISTS)
        for _ in range(50):
            vm.begin({"data": data})
            vm.stack_push(100)
            vm.resume()
        results.append(vm.outputs["content"].tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[float(at // 3) for at in range(300)]] * 4


@BOTH
def test_a_machine_is_not_pickled(machine):
    vm = machine("1")
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=f"cannot pickle '{machine.__name__}' object"):
            way(vm)


INTERRUPTED = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore")
signal.signal(signal.SIGINT, signal.default_int_handler)
from forthwith.forth import ForthMachine64
machine = ForthMachine64(sys.argv[1], tier=int(sys.argv[2]) if sys.argv[2] else None)
asked = []
def ask():
    asked.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
for drive in (machine.run, machine.resume, lambda: machine.call("endless")):
    threading.Timer(0.1, ask).start()
    try:
        drive()
    except KeyboardInterrupt:
        print(time.monotonic() - asked[-1])
machine.begin()
machine.step()
print(machine.stack, machine.is_done)
"""


@pytest.mark.parametrize("tier", ["", "0", "1", "2"])
def test_ctrl_c_ends_a_run_and_the_machine_goes_on(tier):
    program = ": endless begin 2 drop again ; 1 begin 1 drop again"
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, program, tier],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    *waited, last = done.stdout.splitlines()
    assert (done.returncode, last, done.stderr) == (0, "[1] False", "")
    # A tenth of a second where nothing else runs; this one may be loaded.
    assert len(waited) == 3
    assert all(float(seconds) < 1 for seconds in waited)


def test_runs_of_other_threads_end_with_their_work():
    machines = [ForthMachine64("0 3000000 0 do i + loop", tier=1) for _ in range(3)]
    threads = [threading.Thread(target=machine.run) for machine in machines]
    for thread in threads:
        thread.start()
    here = ForthMachine64("0 3000000 0 do i + loop", tier=0)
    here.run()
    for thread in threads:
        thread.join()
    assert {machine.stack[0] for machine in (*machines, here)} == {sum(range(3000000))}
