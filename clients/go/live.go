package scarce

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The server says something every 15 seconds.
const silenceMax = 45 * time.Second

// Update is a change of a channel.
type Update struct {
	Channel string

	// IsSnapshot: what was there before is void, since changes may have been missed.
	IsSnapshot bool

	// Data is all that the channel shows now, as the command that reads it answers: a StockGetResult for stock.sku-1.
	// It is nil if there is no such resource. Of trades, only those that are new, oldest first.
	Data any

	// Epoch and Sequence say up to which event of its partition's log this is.
	Epoch, Sequence int64
}

// message is what the server sends.
type message struct {
	Channel                      string
	Type                         string
	Epoch, Sequence, First, Last int64
	Data                         map[string]json.RawMessage
}

// Live gives updates of channels. It is used by one goroutine.
type Live struct {
	client   *Client
	path     string
	views    map[string]*view
	response *http.Response
	lines    *bufio.Reader
	silence  *time.Timer
	cancel   context.CancelFunc
	last     string
	attempt  int
}

// Live follows live channels, such as stock.sku-1 and market.BTC-USDT.depth, through lost connections.
func (c *Client) Live(channels ...string) *Live {
	its := &Live{client: c, views: map[string]*view{}}
	escaped := make([]string, len(channels))
	for at, channel := range channels {
		its.views[channel] = &view{channel: channel, sequence: -1}
		escaped[at] = url.QueryEscape(channel)
	}
	its.path = "/v1/live?channels=" + strings.Join(escaped, ",")
	return its
}

// Next waits for the next update. It fails if the context ends or the server refuses.
func (l *Live) Next(ctx context.Context) (Update, error) {
	for ctx.Err() == nil {
		if l.response == nil {
			if err := l.connect(ctx); err != nil {
				if isFinal(err) {
					return Update{}, err
				}
				l.disconnect()
				pause(ctx, l.client.exchange.config.pauseBefore(l.attempt, 0))
				l.attempt++
				continue
			}
		}
		id, said, err := l.read(ctx)
		view := l.views[said.Channel]
		if err != nil || said.Type == "end" {
			l.disconnect()
			continue
		}
		if view == nil {
			continue
		}
		isNew, isGap := view.take(said)
		if l.last, l.attempt = id, 0; isGap {
			l.last = ""
			l.disconnect()
		}
		if isNew {
			data, err := view.shown()
			return Update{said.Channel, said.Type == "snapshot", data, said.Epoch, view.sequence}, err
		}
	}
	return Update{}, &Error{Code: Lost, Message: "the context ended", cause: context.Cause(ctx)}
}

// Close ends it.
func (l *Live) Close() {
	l.disconnect()
}

func (l *Live) connect(ctx context.Context) error {
	// The connection outlives the context of this call.
	held, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.cancel, l.silence = cancel, time.AfterFunc(silenceMax, cancel)
	headers := map[string]string{}
	if l.last != "" {
		headers["Last-Event-ID"] = l.last
	}
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	response, err := l.client.exchange.open(held, request{method: "GET", path: l.path, headers: headers})
	if err != nil {
		return &Error{Code: Unreachable, Message: err.Error(), cause: err}
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return &Error{Code: Lost, Message: err.Error(), cause: err}
		}
		return read(response, body, "").err()
	}
	l.response, l.lines = response, bufio.NewReader(response.Body)
	return nil
}

func (l *Live) disconnect() {
	if l.cancel != nil {
		l.cancel()
		l.silence.Stop()
	}
	if l.response != nil {
		l.response.Body.Close()
	}
	l.response, l.cancel = nil, nil
}

// isFinal says whether the server will say nothing else later.
func isFinal(err error) bool {
	failure, ok := err.(*Error)
	isRefused := ok && failure.Status >= 400 && failure.Status < 500 && failure.Status != 429
	return isRefused || isFatal(err)
}

// read reads the next message and its ID.
func (l *Live) read(ctx context.Context) (id string, said message, err error) {
	stop := context.AfterFunc(ctx, l.cancel)
	defer stop()
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			return "", said, err
		}
		l.silence.Reset(silenceMax)
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			return id, said, json.Unmarshal([]byte(value), &said)
		}
	}
}
