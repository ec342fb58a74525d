// SPDX-License-Identifier: Apache-2.0

// Package cache keeps what a tool made in a folder named after all that it was made from: compiled models, synthesised modules.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Env overrides the folder.
const Env = "INCFORGE_CACHE"

// Store is a folder of finished builds, one sub-folder a digest. Any number of
// processes may use it: a build happens in a folder of its own and appears under its
// digest by one rename, so a digest's folder is always complete. The lock only keeps
// two processes from doing the same work twice.
type Store struct {
	dir    string
	pruned *sync.Once // by this process
}

// Open returns the store in dir; "" is the folder that Env names or, without it, the named one among incforge's in the user's cache.
func Open(dir, name string) (Store, error) {
	if dir == "" {
		dir = os.Getenv(Env)
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return Store{}, fmt.Errorf("no folder for %s (set %s): %w", name, Env, err)
		}
		dir = filepath.Join(base, "incforge", name)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Store{}, fmt.Errorf("folder of %s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Store{}, fmt.Errorf("folder of %s: %w", name, err)
	}
	return Store{dir: dir, pruned: &sync.Once{}}, nil
}

// Get returns the folder of a digest, calling make to fill an empty one if it is not
// there yet, and whether it was.
func (s Store) Get(ctx context.Context, digest string, make func(dir string) error) (path string, hit bool, err error) {
	path = filepath.Join(s.dir, digest)
	if s.found(path) {
		return path, true, nil
	}
	s.pruned.Do(s.prune)
	unlock, err := s.lock(ctx, digest)
	if err != nil {
		return "", false, err
	}
	defer unlock()
	if s.found(path) { // somebody else made it while this process waited
		return path, true, nil
	}
	tmp, err := os.MkdirTemp(s.dir, "tmp-")
	if err != nil {
		return "", false, fmt.Errorf("making a build folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	if err := make(tmp); err != nil {
		return "", false, err
	}
	if err := os.Rename(tmp, path); err != nil && !IsDir(path) {
		return "", false, fmt.Errorf("keeping a build: %w", err)
	}
	return path, false, nil
}

// lock takes the digest's lock, which the kernel drops when the process dies.
func (s Store) lock(ctx context.Context, digest string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, digest+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking a build: %w", err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("locking a build: %w", err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("waiting for another process that makes the same build: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// found reports whether a build is there, and notes that it was used.
func (s Store) found(path string) bool {
	if !IsDir(path) {
		return false
	}
	now := time.Now()
	// Failing to note it makes the build look older than it is, and no more.
	_ = os.Chtimes(path, now, now)
	return true
}

// keepUnused is how long a build stays that nobody asks for; keepBroken how long the
// folder of a build that was interrupted.
const (
	keepUnused = 14 * 24 * time.Hour
	keepBroken = 24 * time.Hour
)

// prune removes what has not been used for long. It is called before a process's first build, which
// takes far longer, and is in nobody's way: a library in use stays usable after its
// file is gone.
func (s Store) prune() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() {
			continue
		}
		keep := keepUnused
		if strings.HasPrefix(e.Name(), "tmp-") {
			keep = keepBroken
		}
		if time.Since(info.ModTime()) > keep {
			os.RemoveAll(filepath.Join(s.dir, e.Name()))
			os.Remove(filepath.Join(s.dir, e.Name()+".lock"))
		}
	}
}

// IsDir tells whether a path is a folder.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Key digests a list of strings; every string is preceded by its length, so two
// different lists never give the same bytes.
type Key struct{ h hash.Hash }

// NewKey returns the key of nothing.
func NewKey() Key { return Key{sha256.New()} }

// Add adds strings.
func (k Key) Add(parts ...string) {
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		k.h.Write(n[:])
		k.h.Write([]byte(p))
	}
}

// AddFS adds all files of a file system, names and contents, in order of name.
func (k Key) AddFS(files fs.FS) error {
	return fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		k.Add(path, string(text))
		return nil
	})
}

// Sum returns the digest of what was added.
func (k Key) Sum() string { return hex.EncodeToString(k.h.Sum(nil))[:32] }
