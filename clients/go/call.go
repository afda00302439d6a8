package scarce

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// sent is a command that is on its way, always under the same ID.
type sent struct {
	request request

	// id is empty for reads and dry runs, which change nothing.
	id string

	// on is a resource in its partition, by which the server can be asked about the ID.
	on                string
	remembersRefusals bool

	// decode reads the answer's values.
	decode func(body []byte) (any, error)
}

// commonHeaders are the headers of a change.
func commonHeaders(id string, its options) map[string]string {
	headers := map[string]string{}
	if id != "" {
		headers[idHeader] = id
	}
	if its.deadline != nil {
		headers["Scarce-Deadline"] = strconv.FormatInt(its.deadline.UnixMilli(), 10)
	}
	if its.durability != "" {
		headers["Scarce-Durability"] = its.durability
	}
	return headers
}

// fields are the members of arguments.
func fields(arguments Arguments) (map[string]any, error) {
	body, err := json.Marshal(arguments)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	return all, decoder.Decode(&all)
}

// toSend makes a request of a command.
func (c *Client) toSend(arguments Arguments, its options) (sent, error) {
	route := arguments.route()
	rest, err := fields(arguments)
	if err != nil {
		return sent{}, err
	}
	on := fmt.Sprint(rest[route.on])
	path, query := route.path, url.Values{}
	for name, value := range rest {
		if place := "{" + name + "}"; strings.Contains(path, place) {
			path = strings.Replace(path, place, url.PathEscape(fmt.Sprint(value)), 1)
			delete(rest, name)
		}
	}
	for _, name := range route.query {
		if value, ok := rest[name]; ok {
			query.Set(name, fmt.Sprint(value))
			delete(rest, name)
		}
	}
	if its.isDry {
		query.Set("dry_run", "true")
	}
	id := ""
	if route.takesID && !its.isDry {
		id = its.id
		if id == "" {
			id = c.exchange.clock.newID()
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	ready := request{method: route.method, path: path, headers: commonHeaders(id, its)}
	if route.method == "POST" || route.method == "PATCH" {
		ready.headers["Content-Type"] = "application/json"
		if ready.body, err = json.Marshal(rest); err != nil {
			return sent{}, err
		}
	}
	return sent{ready, id, on, route.remembersRefusals, arguments.decode}, nil
}

// call sends a command. doubt: an earlier attempt may have been applied.
func (c *Client) call(ctx context.Context, its sent, doubt bool) (Outcome[any], error) {
	return c.conclude(ctx, its, c.exchange.decide(ctx, its.request, doubt))
}

// conclude says what a decision means.
func (c *Client) conclude(ctx context.Context, its sent, made decision) (Outcome[any], error) {
	isOpen, answer := made.doubt && its.id != "", made.answer
	if answer != nil && answer.problem == nil {
		return applied(answer, its.decode)
	}
	if answer == nil || !answer.isRefusal() {
		err := made.err
		if answer != nil {
			err = answer.err()
		}
		if isOpen {
			return c.undecided(its, err), nil
		}
		return Outcome[any]{}, err
	}
	refusal := refused(answer.problem)
	switch code := answer.problem.Code; {
	case !isOpen:
		return refusal, nil
	case code == IdReused, code == ResolvedAbsent, code == DeadlinePassed, code == CrossPartition:
		// After these no copy of the request can be applied, though they are not remembered.
		return refusal, nil
	case code == IdExpired:
		// Whatever was under the ID may have been forgotten.
		return c.undecided(its, answer.err()), nil
	case its.remembersRefusals:
		return refusal, nil
	}
	// An earlier attempt that is still on its way could be applied after this refusal.
	settled, err := c.resolve(ctx, its)
	if settled.Absent != nil {
		return refusal, nil
	}
	return settled, err
}

// resolve ensures that the operation is decided, one way or the other.
func (c *Client) resolve(ctx context.Context, its sent) (Outcome[any], error) {
	path := "/v1/operations/" + url.PathEscape(its.id) + "/resolve?on=" + url.QueryEscape(its.on)
	asked := c.exchange.decide(ctx, request{"POST", path, jsonHeaders(), []byte("{}")}, false)
	if asked.answer == nil || asked.answer.problem != nil {
		return c.undecided(its, asked.reason()), nil
	}
	said, err := decoded[OperationResolveResult](asked.answer.body)
	if err != nil {
		return c.undecided(its, &Error{Code: Garbled, Message: err.Error(), cause: err}), nil
	}
	if said.State == "ABSENT" {
		return Outcome[any]{Absent: &Absent{its.id}}, nil
	}
	// What is remembered is the answer to a copy.
	return c.call(ctx, its, true)
}

func (c *Client) look(ctx context.Context, its sent) (Outcome[any], error) {
	path := "/v1/operations/" + url.PathEscape(its.id) + "?on=" + url.QueryEscape(its.on)
	asked := c.exchange.decide(ctx, request{method: "GET", path: path}, false)
	if asked.answer == nil || asked.answer.problem != nil {
		return c.undecided(its, asked.reason()), nil
	}
	return c.call(ctx, its, true)
}

// reason says why there is no good answer.
func (d decision) reason() *Error {
	if d.answer != nil {
		return d.answer.err()
	}
	return d.err
}

func (c *Client) undecided(its sent, reason *Error) Outcome[any] {
	again := func(ctx context.Context, how question) (Outcome[any], error) {
		ctx, cancel := c.within(ctx)
		defer cancel()
		switch how {
		case ask:
			return c.look(ctx, its)
		case resolve:
			return c.resolve(ctx, its)
		}
		return c.call(ctx, its, true)
	}
	return Outcome[any]{Undecided: &Undecided[any]{its.id, reason, again}}
}

func applied(its *answered, decode func(body []byte) (any, error)) (Outcome[any], error) {
	value, err := decode(its.body)
	if err != nil {
		return Outcome[any]{}, &Error{Code: Garbled, Message: err.Error(), cause: err}
	}
	// The body was just read.
	beside, _ := decoded[struct{ Receipt *Receipt }](its.body)
	return Outcome[any]{Applied: &Applied[any]{value, beside.Receipt, its.isReplayed}}, nil
}

func refused(its *problem) Outcome[any] {
	facts := its.Facts
	if facts == nil {
		facts = json.RawMessage("{}")
	}
	return Outcome[any]{Refused: &Refused{its.Code, its.Retryable, its.Title, its.Advice, facts}}
}
