// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"incforge/internal/doctor"
	"incforge/internal/tool"
)

// A PATH with one program that works, one that has no version to tell, and nothing else.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "verilator"), []byte("#!/bin/sh\necho Verilator 5.006 2023-01-22\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "yosys"), []byte("#!/bin/sh\necho Yosys of an unknown age\n"), 0o755))
	t.Setenv("PATH", dir)
	found, err := doctor.Look(context.Background(), doctor.Programs())
	require.NoError(t, err)
	state := map[string]doctor.Finding{}
	for _, f := range found {
		state[f.Name] = f
	}
	assert.Equal(t, "5.006", state["verilator"].Version)
	assert.Equal(t, filepath.Join(dir, "verilator"), state["verilator"].Path)
	assert.Equal(t, "ok", state["verilator"].State())
	assert.Equal(t, "Yosys of an unknown age", state["yosys"].Version)
	assert.Equal(t, "MISSING", state["sta"].State())
	assert.Equal(t, "apt-get install opensta", state["sta"].Install)
	assert.Equal(t, "missing (optional)", state["tshark"].State())

	var absent *tool.NotFoundError
	require.ErrorAs(t, doctor.Missing(found), &absent)
	assert.Equal(t, "g++", absent.Name)
	for i := range found {
		found[i].Found = found[i].Found || !found[i].Optional
	}
	assert.NoError(t, doctor.Missing(found), "an optional program may be missing")
}

// The digest follows what the programs say, word for word, and which there are.
func TestDigest(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	seen := map[string]string{}
	digest := func() string {
		found, err := doctor.Look(context.Background(), doctor.Programs())
		require.NoError(t, err)
		d := doctor.Digest(found)
		assert.Regexp(t, "^[0-9a-f]{16}$", d)
		return d
	}
	differs := func(what string) {
		d := digest()
		assert.NotContains(t, seen, d, "%s", what)
		assert.Equal(t, d, digest(), "twice the same")
		seen[d] = what
	}
	script := func(name, line string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho '"+line+"'\n"), 0o755))
	}
	differs("nothing installed")
	script("yosys", "Yosys 0.23 (git sha1 one)")
	differs("Yosys")
	script("yosys", "Yosys 0.23 (git sha1 two)")
	differs("the same number, another build")
	script("g++", "g++ 12")
	differs("a compiler")
}

// The Python package's Verilator does not know its version; its headers do.
func TestVerilatorWithoutVersion(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "verilator"),
		[]byte("#!/bin/sh\ncase $1 in --getenv) echo "+dir+";; *) echo ' rev vUNKNOWN-built20260516-4e853d8';; esac\n"), 0o755))
	look := func() doctor.Finding {
		found, err := doctor.Look(context.Background(), doctor.Programs()[:1])
		require.NoError(t, err)
		return found[0]
	}
	assert.Equal(t, "rev vUNKNOWN-built20260516-4e853d8", look().Version, "no headers: its own words")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "include"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "include", "verilated_config.h"), []byte("#define VERILATOR_VERSION \"5.49\"\n"), 0o644))
	f := look()
	assert.Equal(t, "5.49", f.Version)
	assert.Contains(t, doctor.Advice([]doctor.Finding{f}), "5.49 is in use; 5.006 (Debian) is recommended")
	f.Version = f.Tested
	assert.Contains(t, doctor.Advice([]doctor.Finding{f}), "5.006 is in use, recommended")
	assert.Empty(t, doctor.Advice(nil))
}

// make tools must install everything the doctor asks for.
func TestMakefileInstallsAll(t *testing.T) {
	text, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	for _, p := range doctor.Programs() {
		assert.True(t, strings.Contains(string(text), p.Name+":"+p.Package), "make tools does not install %s", p.Name)
	}
}
