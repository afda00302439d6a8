// Package scarce is a client of Scarce, which hands out what there is not enough of: accounts, stock, red packets,
// coupons and order books. No operation is applied twice.
package scarce

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"time"
)

// Connections that are kept open.
const connectionsMax = 64

// Config says how to reach a server. What is not set has a default.
type Config struct {
	// Key is a key or the password, if the server has any.
	Key string

	// Timeout is how long a call may take in all, with its retries, if its context has no deadline; 30 seconds by
	// default.
	Timeout time.Duration

	// AttemptTimeout is how long a single attempt may take; 5 seconds by default.
	AttemptTimeout time.Duration

	// Pause is the first pause between two attempts; 50 ms by default.
	Pause time.Duration

	// PauseMax is the longest pause between two attempts; 2 seconds by default.
	PauseMax time.Duration

	// TLS says which certificates are used; by default, those of the system.
	TLS *tls.Config
}

// Client is a client of a server. It keeps connections open; share it between goroutines.
type Client struct {
	Account   AccountCommands
	Stock     StockCommands
	Packet    PacketCommands
	Coupon    CouponCommands
	Market    MarketCommands
	Order     OrderCommands
	Operation OperationCommands
	exchange  *exchange
}

// New makes a client of the server at http://host:port or https://host:port.
func New(url string, config Config) *Client {
	defaults(&config.Timeout, 30*time.Second)
	defaults(&config.AttemptTimeout, 5*time.Second)
	defaults(&config.Pause, 50*time.Millisecond)
	defaults(&config.PauseMax, 2*time.Second)
	headers := map[string]string{}
	if config.Key != "" {
		headers["Authorization"] = "Bearer " + config.Key
	}
	transport := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: config.AttemptTimeout}).DialContext,
		TLSClientConfig:       config.TLS,
		TLSHandshakeTimeout:   config.AttemptTimeout,
		ResponseHeaderTimeout: config.AttemptTimeout,
		MaxIdleConnsPerHost:   connectionsMax,
		IdleConnTimeout:       90 * time.Second,
	}
	c := &Client{exchange: &exchange{
		base:    strings.TrimRight(url, "/"),
		headers: headers,
		client:  &http.Client{Transport: transport, CheckRedirect: stay},
		clock:   &clock{now: time.Now},
		config:  config,
	}}
	c.Account, c.Stock, c.Packet, c.Coupon = AccountCommands{c}, StockCommands{c}, PacketCommands{c}, CouponCommands{c}
	c.Market, c.Order, c.Operation = MarketCommands{c}, OrderCommands{c}, OperationCommands{c}
	return c
}

// stay follows no redirect: by it a change would become a read, or go to a server that is not the one that was asked.
func stay(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}

func defaults(its *time.Duration, usual time.Duration) {
	if *its <= 0 {
		*its = usual
	}
}

// Close closes idle connections.
func (c *Client) Close() {
	c.exchange.client.CloseIdleConnections()
}

// Digest gives sums of the state of each partition, by which deployments are compared.
func (c *Client) Digest(ctx context.Context, arguments DigestArguments) (Outcome[DigestResult], error) {
	return send[DigestResult](ctx, c, arguments, nil)
}

// within ends a call in time.
func (c *Client) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, c.exchange.config.Timeout)
}

func send[T any](ctx context.Context, c *Client, arguments Arguments, all []Option) (Outcome[T], error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	its := collected(all)
	outcome, err := c.once(ctx, arguments, its)
	if failure, ok := err.(*Error); ok && its.id == "" && failure.Code == Invalid && failure.Facts["argument"] == "ID" {
		// The clock of this machine is wrong, and the answer has told by how much.
		outcome, err = c.once(ctx, arguments, its)
	}
	return typed[T](outcome, err)
}

func (c *Client) once(ctx context.Context, arguments Arguments, its options) (Outcome[any], error) {
	ready, err := c.toSend(arguments, its)
	if err != nil {
		return Outcome[any]{}, err
	}
	return c.call(ctx, ready, false)
}
