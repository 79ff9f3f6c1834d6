package crossdock

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// Event is a change to one of the courier's packages, pre-alerts, bills or flights, from a webhook or from the list of events.
type Event struct {
	// Type is for example package.created.
	Type string
	// EventID is the same when the event is sent again. Ignore an EventID that you have already processed.
	EventID string
	// Sequence counts the events of the courier. It is 0 for webhook.test.
	Sequence int
	// Time is when it happened.
	Time time.Time
	// Data is what the event is about. A type switch tells its kind, for example *PackageCreatedEvent. It is nil for a type that this version
	// does not know.
	Data EventData
	// Raw is the data as received.
	Raw json.RawMessage
}

// EventData is the data of an event: a pointer to the type of the event.
type EventData interface{ eventData() }

// UnmarshalJSON reads an event of any type.
func (e *Event) UnmarshalJSON(text []byte) error {
	var wire struct {
		Type     string          `json:"type"`
		EventID  string          `json:"event_id"`
		Sequence int             `json:"sequence"`
		Time     wireTime        `json:"timestamp"`
		Data     json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(text, &wire); err != nil {
		return err
	}
	*e = Event{wire.Type, wire.EventID, wire.Sequence, wire.Time.Time, newEventData(wire.Type), wire.Data}
	if e.Data == nil {
		return nil
	}
	return json.Unmarshal(wire.Data, e.Data)
}

// ParseWebhook verifies a webhook as [VerifyWebhook] does, and returns its event. For the package format flat, which has no events, use
// VerifyWebhook.
func ParseWebhook(body []byte, header http.Header, secrets ...string) (Event, error) {
	var event Event
	if err := VerifyWebhook(body, header, secrets...); err != nil {
		return event, err
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return event, fmt.Errorf("crossdock: the webhook is no event: %w", err)
	}
	return event, nil
}

// EventsService reads the events of a courier, exactly as in its webhooks.
type EventsService struct{ client *Client }

// EventQuery is what [EventsService.List] takes.
type EventQuery struct {
	// After is the sequence number of the last event that you processed.
	After int
	// CourierID names the courier, for staff.
	CourierID string
	// Limit is the number of events per request.
	Limit int
}

// CursorAheadError is the error of a sequence number above the newest event: it is not one of this feed, for example after the service was
// restored from a backup. No event would ever arrive. Read again from 0, and ignore the events whose EventID you know.
type CursorAheadError struct {
	// After is the number that was given.
	After int
	// LastSequence is the newest event of the feed. It is 0 if there is none.
	LastSequence int
}

func (e *CursorAheadError) Error() string {
	return fmt.Sprintf("crossdock: the events end with %d, before %d, for example because the service was restored from a backup. "+
		"Read again from 0, and ignore the events whose EventID you know", e.LastSequence, e.After)
}

// List iterates over the events after a sequence number, the oldest first, and ends at the newest one. Store the Sequence of the last
// event that you processed, and continue there the next time. A number above the newest event is a [*CursorAheadError].
func (s *EventsService) List(ctx context.Context, query EventQuery) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		limit := query.Limit
		if limit == 0 {
			limit = min(s.client.caller.pageSize, largestEventPage)
		}
		next := fields{"after": query.After, "limit": limit}
		next.setText("courier_id", query.CourierID)
		for {
			var page struct {
				Data []Event `json:"data"`
				Meta struct {
					NextAfter    int  `json:"next_after"`
					HasMore      bool `json:"has_more"`
					IsAhead      bool `json:"is_ahead"`
					LastSequence int  `json:"last_sequence"`
				} `json:"meta"`
			}
			if err := s.client.send(ctx, http.MethodGet, "/api/Events.php", next, &page, nil); err != nil {
				yield(Event{}, err)
				return
			}
			if page.Meta.IsAhead {
				yield(Event{}, &CursorAheadError{query.After, page.Meta.LastSequence})
				return
			}
			for _, event := range page.Data {
				if !yield(event, nil) {
					return
				}
			}
			if !page.Meta.HasMore {
				return
			}
			next["after"] = page.Meta.NextAfter
		}
	}
}
