// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"incforge/lab/folder"
	"incforge/lab/relay"
)

// Guest is the folder that `make lab` makes: linux, initrd, bin.
type Guest string

// ErrNoGuest means that there is nothing to boot.
var ErrNoGuest = errors.New("there is no guest: make lab builds it")

// Check reports what is missing.
func (g Guest) Check() error {
	for _, name := range []string{"linux", "initrd", "bin"} {
		if _, err := os.Stat(filepath.Join(string(g), name)); err != nil {
			return fmt.Errorf("%w (%w)", ErrNoGuest, err)
		}
	}
	return nil
}

// ttys is how many terminals of a guest take commands. The last one is the lab's own. The one after them is for streams, see package relay.
const ttys = 5

// managerPort is where a guest's programs find the manager, on loopback.
const managerPort = 7470

// machine is a guest that runs.
type machine struct {
	cmd      *exec.Cmd
	consoles []*console
	relay    net.Conn      // nil: no manager
	dead     chan struct{} // closed when it has ended
	err      error         // then: how
}

// boot is what it takes to start a machine.
type boot struct {
	guest      Guest
	host       *Host
	dir, share string // the lab's folder, and the one that all guests have
	port       string // path of the switch's socket
	mtu        int
	manager    string // path of the manager's socket; empty: there is none
}

// socketBuffer is the room for what a guest sends.
const socketBuffer = 1 << 20

// card opens the socket that is a guest's network card.
func card(port string) (f *os.File, err error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f = os.NewFile(uintptr(fd), port)
	for _, do := range []func() error{
		func() error { return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_SNDBUF, socketBuffer) },
		func() error { return syscall.Connect(fd, &syscall.SockaddrUnix{Name: port}) },
	} {
		if err := do(); err != nil {
			return nil, errors.Join(fmt.Errorf("socket %s: %w", port, err), f.Close())
		}
	}
	return f, nil
}

// pair is a pair of stream sockets: a connection for the lab, a file for the guest.
func pair() (net.Conn, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	mine := os.NewFile(uintptr(fds[0]), "terminal")
	conn, err := net.FileConn(mine)
	theirs := os.NewFile(uintptr(fds[1]), "tty")
	if err = errors.Join(err, mine.Close()); err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return conn, theirs, nil
}

// terminals opens a machine's terminals. It returns the guest's ends, and what its kernel has to know of them.
func (m *machine) terminals(b *boot) (files []*os.File, args []string, err error) {
	n := ttys
	if b.manager != "" {
		n++
		args = append(args, fmt.Sprintf("lab_relay=%d", n), fmt.Sprintf("lab_manager=%d", managerPort))
	}
	for i := range n {
		conn, tty, err := pair()
		if err != nil {
			return files, nil, err
		}
		files = append(files, tty)
		args = append(args, fmt.Sprintf("con%d=fd:%d,fd:%[2]d", i+1, 4+i))
		if i < ttys {
			m.consoles = append(m.consoles, newConsole(conn))
		} else {
			m.relay = conn
		}
	}
	return files, args, nil
}

// start boots a machine. It returns before the guest is up.
func (b *boot) start() (m *machine, err error) {
	var files []*os.File
	defer func() { // the guest has its own
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	nic, err := card(b.port)
	if err != nil {
		return nil, err
	}
	m = &machine{dead: make(chan struct{})}
	ttyFiles, ttyArgs, err := m.terminals(b)
	files = append([]*os.File{nic}, ttyFiles...)
	if err != nil {
		return nil, errors.Join(err, m.closeConsoles())
	}
	args := []string{"initrd=" + filepath.Join(string(b.guest), "initrd"), fmt.Sprintf("mem=%dM", b.host.MemoryMB), "con0=fd:0,fd:1",
		fmt.Sprintf("vec0:transport=fd,fd=3,mac=%v,mtu=%d,depth=256", b.host.MAC, b.mtu), "hostfs=" + b.share, "uml_dir=" + b.dir, "umid=" + b.host.Name + ".uml",
		"lab_name=" + b.host.Name, fmt.Sprintf("lab_ip=%v/16", b.host.IP), fmt.Sprintf("lab_mtu=%d", b.mtu), fmt.Sprintf("lab_ttys=%d", ttys)}
	log, err := os.OpenFile(filepath.Join(b.dir, b.host.Name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, errors.Join(err, m.closeConsoles())
	}
	m.cmd = exec.Command(filepath.Join(string(b.guest), "linux"), append(args, ttyArgs...)...)
	m.cmd.ExtraFiles = files
	files = append(files, log)
	m.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, folder.Mark + "=" + b.dir}
	m.cmd.Stdout, m.cmd.Stderr = log, log
	// A signal from the terminal is for the lab, and a lab that is killed takes its guests along.
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := m.run(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", b.host.Name, err), m.closeConsoles())
	}
	if m.relay != nil {
		go func() { _ = relay.Serve(context.Background(), m.relay, b.dialManager) }() // ends with the terminal
	}
	return m, nil
}

// dialManager connects a stream of the guest's to the manager.
func (b *boot) dialManager(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", b.manager)
}

// run starts the process from a thread that lives as long: the kernel takes the end of the thread for that of the parent.
func (m *machine) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := m.cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		m.err = m.cmd.Wait()
		close(m.dead)
	}()
	return <-started
}

// kill ends the guest as a power failure would.
func (m *machine) kill() error {
	err := m.cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	<-m.dead
	return errors.Join(err, m.closeConsoles())
}

func (m *machine) closeConsoles() error {
	var errs []error
	for _, c := range m.consoles {
		errs = append(errs, c.close())
	}
	if m.relay != nil {
		errs = append(errs, m.relay.Close())
	}
	return errors.Join(errs...)
}

// lastLines are the last lines of a guest's log, for a message.
func lastLines(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
