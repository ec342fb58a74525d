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

// make tools must install everything the doctor asks for.
func TestMakefileInstallsAll(t *testing.T) {
	text, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	for _, p := range doctor.Programs() {
		assert.True(t, strings.Contains(string(text), p.Name+":"+p.Package), "make tools does not install %s", p.Name)
	}
}
