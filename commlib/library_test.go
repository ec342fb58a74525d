// SPDX-License-Identifier: Apache-2.0

package commlib_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/live"
)

// library is the folder of the C library, which make commlib builds. make commlib-test sets it.
func library(t *testing.T) string {
	dir := os.Getenv("INCFORGE_COMMLIB")
	if dir == "" {
		t.Skip("make commlib-test runs this: it links the library twice, which takes a minute")
	}
	return dir
}

// built compiles a program.
func built(t *testing.T, command ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
	require.NoError(t, err, "%v\n%s", command, out)
}

// cc are a strict compiler's arguments for a program with the library, shared or not.
func cc(lib, source, program string, shared bool) []string {
	args := []string{"gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-D_DEFAULT_SOURCE", "-I", lib, source, "-o", program}
	if shared {
		return append(args, "-L", lib, "-lcommlib", "-lm", "-Wl,-rpath,"+lib)
	}
	return append(args, filepath.Join(lib, "libcommlib.a"), "-lm", "-lpthread", "-lresolv")
}

// run runs a program a host, with the NIC, the manager, its rank and the members behind its other arguments, and returns what each has printed.
func (c *cluster) run(ctx context.Context, programs [][]string) (out []string, err error) {
	members := []string{"h0", "h1", "h2", "h3"}
	out = make([]string, len(members))
	err = everybody(len(members), func(rank int) error {
		name := members[rank]
		leaf := fmt.Sprintf("leaf%d", rank/2)
		nic := fmt.Sprintf("unix:%s,%s,10.0.1.%d,02:00:01:00:00:%02x", c.between(name, leaf), c.between(leaf, name), 10+rank, 10+rank)
		args := append(append([]string(nil), programs[rank]...), nic, c.manager, fmt.Sprint(rank))
		text, err := exec.CommandContext(ctx, args[0], append(args[1:], members...)...).CombinedOutput()
		if out[rank] = string(text); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		return nil
	})
	return out, err
}

// The library as its users have it: one group of programs in Go, C with the shared library and with the archive, and Python; then every function
// from C, on four ranks.
func TestLibrary(t *testing.T) {
	lib, dir := library(t), t.TempDir()
	program := func(name string) string { return filepath.Join(dir, name) }
	built(t, "go", "build", "-o", program("go"), "./examples/go")
	built(t, cc(lib, "examples/c/allreduce.c", program("shared"), true)...)
	built(t, cc(lib, "examples/c/allreduce.c", program("archive"), false)...)
	built(t, cc(lib, "testdata/every.c", program("every"), true)...)
	var c *cluster
	ctx := within(t, 2*time.Minute)
	for _, mode := range []int{1, 2} {
		c = newCluster(t, paramsOf(mode), live.Faults{})
		for name, h := range c.hosts { // their sockets are the programs'
			require.NoError(t, h.nic.Close())
			require.NoError(t, h.conn.Close())
			delete(c.hosts, name)
		}
		out, err := c.run(ctx, [][]string{{program("go")}, {program("shared")}, {program("archive")},
			{"python3", "examples/python/allreduce.py", filepath.Join(lib, "libcommlib.so")}})
		require.NoError(t, err)
		for rank := range out {
			assert.Equal(t, fmt.Sprintf("rank %d: all 10000 sums are right\n", rank), out[rank], "Mode %d", mode)
		}
	}
	every := []string{program("every")}
	out, err := c.run(ctx, [][]string{every, every, every, every})
	require.NoError(t, err)
	for rank := range out {
		assert.Equal(t, fmt.Sprintf("rank %d: every function is right\n", rank), out[rank])
	}
}
