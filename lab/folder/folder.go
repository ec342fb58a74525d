// SPDX-License-Identifier: Apache-2.0

// Package folder keeps the folder of a lab: one lab of a name at a time, and what labs leave behind that were killed, processes and files, is
// taken away when the next one starts.
package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrRunning means that a lab of that name runs already.
var ErrRunning = errors.New("is running already")

// Mark is the environment variable by which processes of a lab are known: its value is the lab's folder.
const Mark = "INCFORGE_LAB"

// LockSuffix is that of the file beside a lab's folder that is locked while the lab runs.
const LockSuffix = ".lock"

// Home is the folder that holds the folders of the user's running labs: sockets are in them, so it has a short name.
func Home() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "incforge-lab")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("incforge-lab-%d", os.Getuid()))
}

// Folder is the folder of a lab that runs here.
type Folder struct {
	Path string
	lock *os.File
}

// Claim makes the folder of a lab, after taking away what labs have left behind that were killed.
func Claim(home, name string) (*Folder, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(home)
	if err != nil {
		return nil, err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || info.Mode().Perm()&0o022 != 0 || ok && int(owner.Uid) != os.Getuid() {
		return nil, fmt.Errorf("%s: must be a folder of yours that nobody else can write to", home)
	}
	if err := sweep(home); err != nil {
		return nil, err
	}
	lock, err := tryLock(filepath.Join(home, name+LockSuffix))
	if err != nil {
		return nil, fmt.Errorf("lab %s: %w", name, err)
	}
	f := &Folder{filepath.Join(home, name), lock}
	if err := os.Mkdir(f.Path, 0o700); err != nil {
		return nil, errors.Join(err, f.Drop())
	}
	return f, nil
}

// tryLock locks a file that belongs to nobody else, or ErrRunning.
func tryLock(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			_ = f.Close() // nothing was written
			if errors.Is(err, syscall.EWOULDBLOCK) {
				err = ErrRunning
			}
			return nil, err
		}
		// Whoever held it before may have removed it meanwhile.
		mine, err := f.Stat()
		if now, nerr := os.Lstat(path); err == nil && nerr == nil && os.SameFile(mine, now) {
			return f, nil
		}
		if cerr := f.Close(); err != nil || cerr != nil {
			return nil, errors.Join(err, cerr)
		}
	}
}

// Drop takes the folder away, with all processes that are marked with it.
func (f *Folder) Drop() error {
	err := endAll(f.Path)
	err = errors.Join(err, os.RemoveAll(f.Path))
	err = errors.Join(err, os.Remove(f.Path+LockSuffix), f.lock.Close())
	if rerr := os.Remove(filepath.Dir(f.Path)); rerr != nil && !errors.Is(rerr, syscall.ENOTEMPTY) && !errors.Is(rerr, fs.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// sweep takes away what killed labs have left in home.
func sweep(home string) error {
	locks, err := filepath.Glob(filepath.Join(home, "*"+LockSuffix))
	if err != nil {
		return err
	}
	for _, path := range locks {
		lock, err := tryLock(path)
		if errors.Is(err, ErrRunning) {
			continue
		}
		if err != nil {
			return err
		}
		dir := strings.TrimSuffix(path, LockSuffix)
		if err := errors.Join(endAll(dir), os.RemoveAll(dir), os.Remove(path), lock.Close()); err != nil {
			return err
		}
	}
	return nil
}

// endTime is how long processes may take to be gone that were killed.
const endTime = 5 * time.Second

// endAll kills the processes that are marked with a folder, and waits until they are gone.
func endAll(dir string) error {
	for start := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		pids, err := Marked(dir)
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Since(start) > endTime {
			return fmt.Errorf("processes %v of %s do not end", pids, dir)
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("process %d of %s: %w", pid, dir, err)
			}
		}
	}
}

// Marked are the processes that are marked with a folder. Those of others cannot be read, and are not.
func Marked(dir string) (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	want := []byte(Mark + "=" + dir)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue // gone, or another's
		}
		for _, v := range bytes.Split(env, []byte{0}) {
			if bytes.Equal(v, want) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids, nil
}
