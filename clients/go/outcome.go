package scarce

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Code says why a command was refused, or what is wrong.
type Code string

// The codes of errors that are not the server's.
const (
	// Unreachable: the server cannot have got the request.
	Unreachable Code = "UNREACHABLE"

	// Lost: there is no answer.
	Lost Code = "LOST"

	// Garbled: something else answers at the address.
	Garbled Code = "GARBLED"
)

// Outcome is what comes of a command. One of its members is set.
type Outcome[T any] struct {
	Applied   *Applied[T]
	Refused   *Refused
	Undecided *Undecided[T]

	// Absent is set by Resolve only.
	Absent *Absent
}

// Applied: the command took effect, or, if it reads, was answered.
type Applied[T any] struct {
	Value T

	// Receipt says where the change is in the log; nil for reads and dry runs.
	Receipt *Receipt

	// Replayed says whether this is the first answer again.
	Replayed bool
}

// Refused: the rules do not allow it, which is an ordinary answer. No copy of the request will be applied under this ID.
type Refused struct {
	Code Code

	// Retryable says whether the same command may succeed later, with a new ID.
	Retryable bool
	Title     string
	Advice    string
	facts     json.RawMessage
}

// Facts are what a refusal rests on: FactsOf[SoldOutFacts](refused) if its code is SoldOut.
func FactsOf[F any](refused *Refused) (F, error) {
	return decoded[F](refused.facts)
}

// Absent: nothing was done under this ID, and nothing ever will be.
type Absent struct {
	Operation string
}

// Undecided: the time for the call is up, and the server may or may not have applied it.
type Undecided[T any] struct {
	Operation string

	// Reason says why there is no answer.
	Reason *Error
	again  func(ctx context.Context, how question) (Outcome[any], error)
}

type question int

const (
	retry question = iota
	ask
	resolve
)

// Retry sends it again with the same ID.
func (u *Undecided[T]) Retry(ctx context.Context) (Outcome[T], error) {
	return typed[T](u.again(ctx, retry))
}

// Ask asks whether it was applied. It is undecided again if the server does not know it.
func (u *Undecided[T]) Ask(ctx context.Context) (Outcome[T], error) {
	return typed[T](u.again(ctx, ask))
}

// Resolve settles it: it answers what was decided, or ensures that it never happens.
func (u *Undecided[T]) Resolve(ctx context.Context) (Outcome[T], error) {
	return typed[T](u.again(ctx, resolve))
}

// Error: something is wrong besides the rules. The call that returns it changed nothing.
type Error struct {
	Code    Code
	Message string

	// Status of HTTP; 0 without an answer.
	Status int
	Facts  map[string]any
	cause  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap gives what caused it.
func (e *Error) Unwrap() error {
	return e.cause
}

// Arguments are the arguments of a command, such as StockTakeArguments.
type Arguments interface {
	route() route
	decode(body []byte) (any, error)
}

// route says how a command is sent.
type route struct {
	command, method, path string
	query                 []string

	// on is the argument that names a resource in the command's partition.
	on      string
	takesID bool

	// remembersRefusals says whether a refusal is remembered under the ID, so that no copy of the request can be
	// applied later.
	remembersRefusals bool
}

// Option is what a single call may say besides its arguments.
type Option func(*options)

type options struct {
	id         string
	deadline   *time.Time
	durability string
	isDry      bool
}

// WithID gives the operation ID; by default it is a new one. Give your own to find the operation again after a crash of
// your program.
func WithID(id string) Option {
	return func(o *options) { o.id = id }
}

// WithDeadline gives a time from which on the command is not applied.
func WithDeadline(deadline time.Time) Option {
	return func(o *options) { o.deadline = &deadline }
}

// WithDurability says how safe the change must be before it is answered: memory, replicated or synced.
func WithDurability(level string) Option {
	return func(o *options) { o.durability = level }
}

// DryRun tells what would happen, and changes nothing.
func DryRun() Option {
	return func(o *options) { o.isDry = true }
}

func collected(all []Option) options {
	var its options
	for _, option := range all {
		option(&its)
	}
	return its
}

// typed gives an outcome the type of its command's answer.
func typed[T any](outcome Outcome[any], err error) (Outcome[T], error) {
	its := Outcome[T]{Refused: outcome.Refused, Absent: outcome.Absent}
	if applied := outcome.Applied; applied != nil {
		// The arguments of the command have decoded it.
		value, _ := applied.Value.(T)
		its.Applied = &Applied[T]{value, applied.Receipt, applied.Replayed}
	}
	if open := outcome.Undecided; open != nil {
		its.Undecided = &Undecided[T]{open.Operation, open.Reason, open.again}
	}
	return its, err
}

func decoded[T any](body []byte) (T, error) {
	var value T
	err := json.Unmarshal(body, &value)
	return value, err
}

// Some gives an optional argument a value.
func Some[T any](value T) *T {
	return &value
}
