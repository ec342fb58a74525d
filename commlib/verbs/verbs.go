// SPDX-License-Identifier: Apache-2.0

// Package verbs is what package commlib asks of a NIC: queue pairs of reliable connections, with the names and the semantics of libibverbs, so
// that a real device and a model of one can stand behind the same interface.
//
//	Device      ibv_open_device, ibv_alloc_pd
//	Register    ibv_reg_mr, with IBV_ACCESS_LOCAL_WRITE
//	CreateQP    ibv_create_comp_channel, ibv_create_cq for sends and receives, ibv_create_qp of IBV_QPT_RC with sq_sig_all
//	Connect     ibv_modify_qp from RESET over INIT and RTR to RTS
//	PostSend    ibv_post_send of IBV_WR_SEND or IBV_WR_SEND_WITH_IMM
//	PostRecv    ibv_post_recv
//	Poll        ibv_poll_cq
//	Events      ibv_get_cq_event, ibv_req_notify_cq
//	Destroy     ibv_destroy_qp, ibv_destroy_cq, ibv_destroy_comp_channel
//
// An implementation may be called by several goroutines at once, except that a queue pair is used by one at a time.
package verbs

import "incforge/roce"

// Address is a port of a NIC. Its GID is the one of RoCEv2 over IPv4.
type Address struct {
	IP  roce.IP4
	MAC roce.MAC
}

// Device is a NIC that is open.
type Device interface {
	Address() Address
	// Register makes memory known to the NIC. It stays where it is, and in use, until Deregister.
	Register(memory []byte) (Region, error)
	CreateQP(c Caps) (QP, error)
}

// Region is memory that the NIC knows.
type Region interface {
	Deregister() error
}

// Caps are how many work requests may be posted and not completed: max_send_wr and max_recv_wr. The completion queue holds as many as both.
type Caps struct{ Sends, Receives int }

// QP is a queue pair and its completion queue.
type QP interface {
	QPN() uint32
	// Connect is called once, before anything is posted.
	Connect(a Attr) error
	// PostSend and PostRecv fail if there is no room, or if the memory is not the region's.
	PostSend(w WorkRequest) error
	PostRecv(w WorkRequest) error
	// Poll takes completions out of the queue, in their order, as many as there are and have room; none is no error.
	Poll(into []Completion) (int, error)
	// Events receives something after completions have come that Poll has not taken. Once may stand for many.
	Events() <-chan struct{}
	// Destroy forgets what was posted.
	Destroy() error
}

// Attr is what connects a queue pair.
type Attr struct {
	Peer    Address
	PeerQPN uint32
	// SendPSN is sq_psn, RecvPSN rq_psn.
	SendPSN, RecvPSN roce.PSN
	// PathMTU is in bytes: 256 to 4096, a power of two, or whatever the device takes.
	PathMTU int
	// Timeout is an exponent: 4.096 µs · 2^Timeout. RetryCount and RNRRetry are how often a packet is sent again; 7 of RNRRetry, and with rxe of
	// RetryCount, is without end. MinRNRTimer is the code in this side's RNR NAKs.
	Timeout, RetryCount, RNRRetry, MinRNRTimer uint8
}

// WorkRequest is a send or a receive of one piece of memory. A nil Region goes with no memory.
type WorkRequest struct {
	// ID comes back with the completion: wr_id.
	ID     uint64
	Region Region
	Memory []byte
	// HasImm and Imm are a send's immediate, in the order of the host.
	HasImm bool
	Imm    uint32
}

// Completion is the end of a work request.
type Completion struct {
	ID     uint64
	Status Status
	// Recv tells a receive from a send. Bytes and the immediate are a receive's.
	Recv   bool
	Bytes  int
	HasImm bool
	Imm    uint32
	// Detail says more than the status does, where the device knows more.
	Detail string
}

// Status is how a work request ended, by the codes of enum ibv_wc_status.
type Status uint8

// The statuses that a queue pair of a reliable connection can end with.
const (
	Success          Status = 0
	LocalLength      Status = 1
	LocalQPOperation Status = 2
	LocalProtection  Status = 4
	Flushed          Status = 5
	RemoteInvalid    Status = 9
	RemoteAccess     Status = 10
	RemoteOperation  Status = 11
	RetryExceeded    Status = 12
	RNRRetryExceeded Status = 13
	Fatal            Status = 19
	General          Status = 21
)

// String says it as ibv_wc_status_str does.
func (s Status) String() string {
	switch s {
	case Success:
		return "success"
	case LocalLength:
		return "local length error"
	case LocalQPOperation:
		return "local QP operation error"
	case LocalProtection:
		return "local protection error"
	case Flushed:
		return "work request flushed error"
	case RemoteInvalid:
		return "remote invalid request error"
	case RemoteAccess:
		return "remote access error"
	case RemoteOperation:
		return "remote operation error"
	case RetryExceeded:
		return "transport retry counter exceeded"
	case RNRRetryExceeded:
		return "RNR retry counter exceeded"
	case Fatal:
		return "fatal error"
	}
	return "general error"
}
