// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// Client speaks to a lab that runs.
type Client struct {
	http http.Client
	dial func(ctx context.Context) (net.Conn, error)
}

// ErrRefused is what every refusal by a lab wraps.
var ErrRefused = errors.New("refused")

// NewClient makes a client of the lab with that folder.
func NewClient(folder string) *Client {
	dial := func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(folder, "lab"))
	}
	return &Client{http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableKeepAlives: true}}, dial}
}

// do makes a request. The caller closes the answer's body.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://lab"+path, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(refusal(resp), resp.Body.Close())
	}
	return resp, nil
}

// refusal is what the lab says in an answer that is none.
func refusal(resp *http.Response) error {
	var no struct{ Error string }
	if err := json.NewDecoder(resp.Body).Decode(&no); err != nil || no.Error == "" {
		no.Error = resp.Status
	}
	return fmt.Errorf("%w: %s", ErrRefused, no.Error)
}

// State asks for everything.
func (c *Client) State(ctx context.Context) (s State, err error) {
	resp, err := c.do(ctx, http.MethodGet, "/v1/state", nil)
	if err != nil {
		return s, err
	}
	return s, errors.Join(json.NewDecoder(resp.Body).Decode(&s), resp.Body.Close())
}

// Kill ends a host as a power failure would, Start boots one that is down.
func (c *Client) Kill(ctx context.Context, host string) error { return c.order(ctx, host, "kill") }

// Start boots a host that is down.
func (c *Client) Start(ctx context.Context, host string) error { return c.order(ctx, host, "start") }

func (c *Client) order(ctx context.Context, host, what string) error {
	resp, err := c.do(ctx, http.MethodPost, hostPath(host, what), nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func hostPath(host, what string) string { return "/v1/hosts/" + url.PathEscape(host) + "/" + what }

// Exec runs a script of sh on a host and returns its exit status; what it prints goes to out. If ctx ends, so does the script.
func (c *Client) Exec(ctx context.Context, host, script string, out io.Writer) (status int, err error) {
	resp, err := c.do(ctx, http.MethodPost, hostPath(host, "exec"), strings.NewReader(script))
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(out, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return 0, err
	}
	if text := resp.Trailer.Get(errorTrailer); text != "" {
		return 0, fmt.Errorf("%w: %s", ErrRefused, text)
	}
	return strconv.Atoi(resp.Trailer.Get(statusTrailer))
}

// Shell runs an interactive shell on a host, until it ends. At the end of in comes exit on a line of its own, so that the
// shell does first what was typed before; a Ctrl-D ends no shell that has a line begun, or whose terminal is not set up yet. It is for what else reads there.
func (c *Client) Shell(ctx context.Context, host string, in io.Reader, out io.Writer) (err error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: lab\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", hostPath(host, "shell"), shellProtocol); err != nil {
		return err
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		return errors.Join(refusal(resp), resp.Body.Close())
	}
	go func() {
		_, _ = io.Copy(conn, in) // ends with in, or with the connection
		_, _ = io.WriteString(conn, "\nexit\n\x04")
	}()
	if _, err = io.Copy(out, r); errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return err
}

// Capture copies the frames of a link to out, as pcapng, until ctx ends. The link is named, or is that of the host that is named.
func (c *Client) Capture(ctx context.Context, link string, out io.Writer) error {
	resp, err := c.do(ctx, http.MethodGet, "/v1/links/"+url.PathEscape(link)+"/capture", nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, resp.Body)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, resp.Body.Close())
}
