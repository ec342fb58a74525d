// SPDX-License-Identifier: Apache-2.0

package live

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"incforge/contract"
	"incforge/live/groups"
	"incforge/verify/dut"
)

// Handled is the control socket's handler of a switch without sockets, and what ends it.
func Handled(t *testing.T, setup string, m *contract.Manifest) (ask func(method, path, body string) (int, []byte), end func()) {
	d, err := dut.NewReference(m)
	require.NoError(t, err)
	s, err := groups.Parse("g.yaml", []byte(setup), m, nil)
	require.NoError(t, err)
	log := logrus.New()
	log.SetOutput(t.Output())
	r := &run{o: Options{Switches: make([]Switch, 1), Log: log}}
	l, err := newLoop(r, &Switch{Name: "leaf", Manifest: m, Engine: d, Setup: s})
	require.NoError(t, err)
	r.loops = []*loop{l}
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case call := <-l.calls:
				call()
			case <-stop:
				return
			}
		}
	}()
	handler := r.handler()
	return func(method, path, body string) (int, []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://live"+path, strings.NewReader(body))
		if err != nil {
			return 0, nil // no request at all
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		return w.Code, w.Body.Bytes()
	}, func() { close(stop) }
}
