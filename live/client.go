// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// Client speaks to a control socket.
type Client struct{ http http.Client }

// ErrControl is what every refusal by the other end wraps.
var ErrControl = errors.New("refused")

// NewClient makes a client of the control socket at path.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &Client{http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: 2 * controlTime}}
}

// State asks for everything.
func (c *Client) State(ctx context.Context) (s State, err error) {
	return s, c.do(ctx, http.MethodGet, "/v1/state", nil, &s)
}

// Add adds a group to a switch; group is its mapping as in a groups file, YAML or JSON.
func (c *Client) Add(ctx context.Context, sw string, group []byte) (g GroupState, err error) {
	return g, c.do(ctx, http.MethodPost, groupsPath(sw), group, &g)
}

// Change gives a group other settings, keys as in a groups file, and starts it anew.
func (c *Client) Change(ctx context.Context, sw string, group int, settings []byte) (g GroupState, err error) {
	return g, c.do(ctx, http.MethodPatch, fmt.Sprintf("%s/%d", groupsPath(sw), group), settings, &g)
}

// Reset starts a group anew.
func (c *Client) Reset(ctx context.Context, sw string, group int) (g GroupState, err error) {
	return g, c.do(ctx, http.MethodPost, fmt.Sprintf("%s/%d/reset", groupsPath(sw), group), nil, &g)
}

// Remove takes a group away.
func (c *Client) Remove(ctx context.Context, sw string, group int) error {
	return c.do(ctx, http.MethodDelete, fmt.Sprintf("%s/%d", groupsPath(sw), group), nil, nil)
}

// SetPort takes a port of a switch down, or up again.
func (c *Client) SetPort(ctx context.Context, sw string, port int, down bool) (p PortReport, err error) {
	what := map[bool]string{true: "down", false: "up"}[down]
	return p, c.do(ctx, http.MethodPost, fmt.Sprintf("/v1/switches/%s/ports/%d/%s", url.PathEscape(sw), port, what), nil, &p)
}

func groupsPath(sw string) string { return "/v1/switches/" + url.PathEscape(sw) + "/groups" }

func (c *Client) do(ctx context.Context, method, path string, body []byte, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://live"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		var no struct{ Error string }
		if json.Unmarshal(text, &no) != nil || no.Error == "" {
			no.Error = resp.Status
		}
		return fmt.Errorf("%w: %s", ErrControl, no.Error)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
