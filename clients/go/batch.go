package scarce

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// The most lines of a request; longer batches are sent in several.
const linesMax = 1_000

// Line is a command of a batch.
type Line struct {
	Arguments Arguments
	Options   []Option
}

// LineOutcome is what comes of a line. Err is set if the line could not be done, and was not.
type LineOutcome struct {
	Outcome[any]
	Err error
}

// operation is a line as the server takes it.
type operation struct {
	Command    string    `json:"command"`
	Arguments  Arguments `json:"arguments"`
	ID         string    `json:"id,omitempty"`
	Deadline   int64     `json:"deadline,omitempty"`
	Durability string    `json:"durability,omitempty"`
}

// pending is a line that is on its way.
type pending struct {
	index     int
	operation operation
	sent      sent
	doubt     bool
	err       *Error
}

// lineResult is an answer to a line.
type lineResult struct {
	Result   json.RawMessage `json:"result"`
	Problem  *problem        `json:"problem"`
	Replayed bool            `json:"replayed"`
	Status   int             `json:"status"`
}

// read is the answer to a line with an ID.
func (r *lineResult) read(id string) *answered {
	its := &answered{r.Result, r.Problem, r.Replayed}
	if r.Problem == nil && !isOf(r.Result, id) || r.Problem != nil && !r.Problem.isTold(r.Status) {
		its.problem = garbled(http.StatusBadGateway, r.Result)
	}
	return its
}

// Batch sends many commands in a request, each with an outcome and an ID of its own.
func (c *Client) Batch(ctx context.Context, lines []Line) ([]LineOutcome, error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	outcomes := make([]LineOutcome, len(lines))
	open, err := c.pending(lines)
	if err != nil {
		return nil, err
	}
	for attempt := 0; len(open) > 0; attempt++ {
		var left []*pending
		for from := 0; from < len(open); from += linesMax {
			left = append(left, c.round(ctx, open[from:min(from+linesMax, len(open))], outcomes)...)
		}
		open = left
		if len(open) > 0 && !pause(ctx, c.exchange.config.pauseBefore(attempt, waitOf(open))) {
			for _, its := range open {
				outcomes[its.index] = c.given(its)
			}
			break
		}
	}
	return outcomes, nil
}

func (c *Client) pending(lines []Line) ([]*pending, error) {
	all := make([]*pending, len(lines))
	for index, line := range lines {
		its := collected(line.Options)
		ready, err := c.toSend(line.Arguments, its)
		if err != nil {
			return nil, err
		}
		made := operation{Command: line.Arguments.route().command, Arguments: line.Arguments, ID: ready.id}
		made.Durability = its.durability
		if its.deadline != nil {
			made.Deadline = its.deadline.UnixMilli()
		}
		all[index] = &pending{index, made, ready, false, &Error{Code: Unreachable, Message: "there was no time to send it"}}
	}
	return all, nil
}

// waitOf says how long the lines should wait, if the server knows.
func waitOf(open []*pending) time.Duration {
	longest := 0.0
	for _, its := range open {
		ms, _ := its.err.Facts["retry_after_ms"].(float64)
		longest = max(longest, ms)
	}
	return min(time.Duration(min(longest, 1e12))*time.Millisecond, waitMax)
}

// round sends lines, again as long as the request as a whole has no answer. It gives those that are open still.
func (c *Client) round(ctx context.Context, lines []*pending, outcomes []LineOutcome) []*pending {
	operations := make([]operation, len(lines))
	for at, its := range lines {
		operations[at] = its.operation
	}
	// What was made of valid arguments can be written.
	body, _ := json.Marshal(map[string]any{"operations": operations})
	made := c.exchange.decide(ctx, request{"POST", "/v1/batch", jsonHeaders(), body}, false)
	var said struct{ Results []lineResult }
	failure := made.err
	if made.answer != nil && made.answer.problem != nil {
		failure = made.answer.err()
	} else if made.answer != nil {
		if err := json.Unmarshal(made.answer.body, &said); err != nil || len(said.Results) != len(lines) {
			failure, made.doubt = &Error{Code: Garbled, Message: "the answer has not the lines of the batch"}, true
		}
	}
	var open []*pending
	for at, its := range lines {
		its.doubt = its.doubt || made.doubt
		if failure != nil {
			its.err = failure
			outcomes[its.index] = c.given(its)
			continue
		}
		result := said.Results[at]
		answer := result.read(its.sent.id)
		if answer.isTransient() {
			its.doubt, its.err = its.doubt || answer.mayBeApplied(), answer.err()
			open = append(open, its)
			continue
		}
		outcome, err := c.conclude(ctx, its.sent, decision{answer, nil, its.doubt})
		outcomes[its.index] = LineOutcome{outcome, err}
	}
	return open
}

// given is the outcome of a line without an answer.
func (c *Client) given(its *pending) LineOutcome {
	if its.doubt && its.sent.id != "" {
		return LineOutcome{c.undecided(its.sent, its.err), nil}
	}
	return LineOutcome{Err: its.err}
}

// Atomic applies all of the lines or none, under one ID. Their resources must be in one partition. The value has the
// result of each line.
func (c *Client) Atomic(ctx context.Context, lines []Arguments, all ...Option) (Outcome[[]any], error) {
	ctx, cancel := c.within(ctx)
	defer cancel()
	ready, err := c.toSendAtomic(lines, collected(all))
	if err != nil {
		return Outcome[[]any]{}, err
	}
	return typed[[]any](c.call(ctx, ready, false))
}

func (c *Client) toSendAtomic(lines []Arguments, its options) (sent, error) {
	path, id := "/v1/batch", its.id
	switch {
	case its.isDry:
		path, id = "/v1/batch?dry_run=true", ""
	case id == "":
		id = c.exchange.clock.newID()
	}
	operations, on, remembers := make([]operation, len(lines)), "", false
	for at, line := range lines {
		operations[at] = operation{Command: line.route().command, Arguments: line}
		remembers = remembers || line.route().remembersRefusals
	}
	if len(lines) > 0 {
		first, err := fields(lines[0])
		if err != nil {
			return sent{}, err
		}
		on = fmt.Sprint(first[lines[0].route().on])
	}
	body, err := json.Marshal(map[string]any{"atomic": true, "operations": operations})
	headers := commonHeaders(id, its)
	headers["Content-Type"] = "application/json"
	decode := func(body []byte) (any, error) {
		said, err := decoded[struct{ Results []lineResult }](body)
		values := make([]any, len(said.Results))
		for at := 0; at < len(values) && err == nil; at++ {
			values[at], err = lines[at].decode(said.Results[at].Result)
		}
		return values, err
	}
	return sent{request{"POST", path, headers, body}, id, on, remembers, decode}, err
}

func jsonHeaders() map[string]string {
	return map[string]string{"Content-Type": "application/json"}
}
