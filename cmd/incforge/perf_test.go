// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Sizes are numbers, or a number and its doubles.
func TestParseSizes(t *testing.T) {
	for text, want := range map[string][]int{"0": {0}, "4096": {4096}, "64Ki": {65536}, "1Ki:5Ki": {1024, 2048, 4096}, "3:3": {3}, "1024Mi": {1 << 30}} {
		got, err := parseSizes(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "1Gi", "1025Mi", "0:4", "4:3", "1:", ":4", "1:2:3"} {
		_, err := parseSizes(text)
		assert.Error(t, err, text)
	}
}

// What is wrong with the command line of a member is said at once.
func TestMemberUsage(t *testing.T) {
	ring := []string{"--group", "ring", "--members", "h0,h1"}
	for want, args := range map[string][]string{
		"one of --group and --meet is needed":                     {"perf", "h0"},
		"--turn-wait 2m0s: it can be 0 to 1m0s":                   append([]string{"perf", "h0", "--turn-wait", "2m"}, ring...),
		"h7 is none of the members h0, h1":                        append([]string{"host", "h7"}, ring...),
		"--meet says which group and members there are":           append([]string{"perf", "h0", "--meet", "x"}, ring...),
		`NIC "eth0": must be unix:MINE,PEER,IP,MAC or verbs:NAME`: append([]string{"host", "h0", "--nic", "eth0"}, ring...),
		"NIC verbs:none: ":                                        append([]string{"perf", "h0", "--nic", "verbs:none"}, ring...),
		"--bytes 4:2: the first size must be at least 1":          append([]string{"perf", "h0", "--bytes", "4:2"}, ring...),
		"--iterations 0 must be at least 1":                       append([]string{"perf", "h0", "--iterations", "0"}, ring...),
		"--fixed: needs one --collective":                         append([]string{"perf", "h0", "--fixed", "--type", "int32"}, ring...),
		"allreduce or barrier, as others cannot wait":             append([]string{"perf", "h0", "--fixed", "--type", "int32", "--collective", "allgather"}, ring...),
		"--fixed and --whole-messages must not":                   {"perf", "h0", "--meet", "x", "--whole-messages"},
		`dance`:                                                   append([]string{"perf", "h0", "--collective", "dance"}, ring...),
	} {
		var stderr bytes.Buffer
		assert.Equal(t, exitUsage, run(t.Context(), args, io.Discard, &stderr), want)
		assert.Contains(t, stderr.String(), want)
		assert.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
	}
}
