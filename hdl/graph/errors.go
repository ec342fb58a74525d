// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Error is one thing wrong with a module or composite.
type Error struct {
	Pos  string // folder/file.go:line of the call outside this package; may be empty
	Text string // what is wrong, with the paths of both ends
}

func (e *Error) Error() string {
	if e.Pos == "" {
		return e.Text
	}
	return e.Pos + ": " + e.Text
}

// Errors is every error found, in the order of the calls that caused them.
type Errors []*Error

// Error joins the errors, one a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As and errors.Is look at each error.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// Err returns nil when there is no error, else es.
func (es Errors) Err() error {
	if len(es) == 0 {
		return nil
	}
	return es
}

// caller returns folder/file.go:line of the nearest frame outside this package.
// Only one folder is kept, so that messages do not depend on where the tree lies.
func caller() string {
	var pcs [32]uintptr
	n := runtime.Callers(2, pcs[:])
	frames := runtime.CallersFrames(pcs[:n])
	own := ""
	for {
		f, more := frames.Next()
		pkg := packageOf(f.Function)
		if own == "" {
			own = pkg
		}
		if pkg != own && f.File != "" {
			file := filepath.ToSlash(f.File)
			return path.Join(path.Base(path.Dir(file)), path.Base(file)) + ":" + strconv.Itoa(f.Line)
		}
		if !more {
			return ""
		}
	}
}

// packageOf cuts "a/b/pkg.(*T).Method" down to "a/b/pkg".
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/')
	if dot := strings.IndexByte(function[slash+1:], '.'); dot >= 0 {
		return function[:slash+1+dot]
	}
	return function
}
