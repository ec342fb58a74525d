// SPDX-License-Identifier: Apache-2.0

// Package store keeps what an agent or a manager must know after a crash: named records in a file, each written whole or not at all.
package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	boltErrors "go.etcd.io/bbolt/errors"
)

// Store keeps records by name. When Put or Delete has returned without an error, the change outlives a crash; with an error it may have
// happened or not.
type Store interface {
	Put(name string, record []byte) error
	// Delete does nothing if there is no such record.
	Delete(name string) error
	// All returns all records, in the order of their names.
	All() ([]Record, error)
	Close() error
}

// Record is a record and its name.
type Record struct {
	Name string
	Data []byte
}

// lockWait is how long Open waits for another process to let go of the file.
const lockWait = time.Second

// file is a Store in a file of bbolt.
type file struct{ db *bolt.DB }

func bucket() []byte { return []byte("records") }

// Open opens a file, or makes it. Only one process at a time can have it open.
func Open(path string) (Store, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait})
	if errors.Is(err, boltErrors.ErrTimeout) {
		return nil, fmt.Errorf("store %s: another process has it open", path)
	}
	if err == nil {
		err = db.Update(func(tx *bolt.Tx) error {
			_, err := tx.CreateBucketIfNotExists(bucket())
			return err
		})
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return file{db}, nil
}

func (f file) update(what, name string, change func(b *bolt.Bucket) error) error {
	if err := f.db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket(bucket())) }); err != nil {
		return fmt.Errorf("store: %s %s: %w", what, name, err)
	}
	return nil
}

func (f file) Put(name string, record []byte) error {
	return f.update("put", name, func(b *bolt.Bucket) error { return b.Put([]byte(name), record) })
}

func (f file) Delete(name string) error {
	return f.update("delete", name, func(b *bolt.Bucket) error { return b.Delete([]byte(name)) })
}

func (f file) All() (all []Record, err error) {
	err = f.db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucket()).ForEach(func(name, data []byte) error {
			all = append(all, Record{string(name), slices.Clone(data)})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return all, nil
}

func (f file) Close() error {
	if err := f.db.Close(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// memory is a Store that ends with the process.
type memory struct {
	mu  sync.Mutex
	all map[string][]byte
}

// NewMemory makes a Store in memory, for what need not outlive the process: a switch that is simulated in it.
func NewMemory() Store { return &memory{all: map[string][]byte{}} }

func (m *memory) Put(name string, record []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[name] = slices.Clone(record)
	return nil
}

func (m *memory) Delete(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, name)
	return nil
}

func (m *memory) All() ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Record
	for _, name := range slices.Sorted(maps.Keys(m.all)) {
		all = append(all, Record{name, slices.Clone(m.all[name])})
	}
	return all, nil
}

func (m *memory) Close() error { return nil }
