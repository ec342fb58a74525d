# SPDX-License-Identifier: Apache-2.0
"""An AllReduce in Python: LIBCOMMLIB.SO NIC MANAGER RANK MEMBER... (see commlib.h)."""
import ctypes
import sys

FP32, SUM, BARRIER = 0, 0, 3
COUNT = 10000


class Config(ctypes.Structure):
    """struct commlib_config"""
    _fields_ = [(n, ctypes.c_char_p) for n in ("manager", "ca", "cert", "key", "name")] + [
        ("members", ctypes.POINTER(ctypes.c_char_p)), ("ranks", ctypes.c_int), ("rank", ctypes.c_int), ("policy", ctypes.c_char_p)] + [
        (n, ctypes.c_int) for n in ("mbps", "least_mbps", "mtu", "timeout_ms", "wait_ms", "turn_wait_ms", "path_mtu", "whole_messages")] + [("meet", ctypes.c_char_p), ("host", ctypes.c_char_p)]


class Request(ctypes.Structure):
    """struct commlib_request"""
    _fields_ = [(n, ctypes.c_int) for n in ("collective", "root", "type", "op")] + [
        ("send", ctypes.c_void_p), ("recv", ctypes.c_void_p), ("send_bytes", ctypes.c_size_t), ("recv_bytes", ctypes.c_size_t)]


if len(sys.argv) < 6:
    sys.exit("usage: LIBCOMMLIB.SO NIC MANAGER RANK MEMBER...")
library, nic_name, manager, rank, members = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode(), int(sys.argv[4]), sys.argv[5:]
lib = ctypes.CDLL(library)
lib.commlib_error.restype = ctypes.c_char_p


def check(status):
    if status:
        sys.exit(lib.commlib_error().decode())


nic, group, call = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
names = (ctypes.c_char_p * len(members))(*[m.encode() for m in members])
check(lib.commlib_open(nic_name, ctypes.byref(nic)))
check(lib.commlib_init_group(nic, ctypes.byref(Config(manager=manager, name=b"example", members=names, ranks=len(members), rank=rank, mbps=100,
                                                      wait_ms=60000)), ctypes.byref(group)))

data = (ctypes.c_float * COUNT)(*[i * (rank + 1) for i in range(COUNT)])
check(lib.commlib_all_reduce(group, data, data, ctypes.c_size_t(COUNT), FP32, SUM))  # blocking
check(lib.commlib_start(group, ctypes.byref(Request(collective=BARRIER)), ctypes.byref(call)))  # with a handle
check(lib.commlib_wait(call, -1))

everybody = len(members) * (len(members) + 1) // 2  # 1 + 2 + ... ranks
if list(data) != [i * everybody for i in range(COUNT)]:
    sys.exit("a sum is wrong")
print(f"rank {rank}: all {COUNT} sums are right")
check(lib.commlib_destroy_group(group))
check(lib.commlib_close(nic))
