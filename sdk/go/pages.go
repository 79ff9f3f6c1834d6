package crossdock

import (
	"context"
	"iter"

	"crossdock.example/go/crossdock/api"
)

// PrealertPages iterates over the pages of the list of pre-alerts. Each page has the stats of all matching records.
func (c *Client) PrealertPages(ctx context.Context, params api.ListPrealertsParams) iter.Seq2[*api.ListPrealertsResult, error] {
	return pages(params.Page, func(page int) (*api.ListPrealertsResult, bool, error) {
		params.Page = &page
		response, err := c.ListPrealertsWithResponse(ctx, &params)
		if err != nil {
			return nil, false, err
		}
		return response.JSON200, page < response.JSON200.Meta.TotalPages, nil
	})
}

// Prealerts iterates over the pre-alerts of all pages. It requests a page when it needs one. A record that leaves the list
// meanwhile hides another one, so do not filter by a field that changes, for example the status.
func (c *Client) Prealerts(ctx context.Context, params api.ListPrealertsParams) iter.Seq2[api.Prealert, error] {
	return records(c.PrealertPages(ctx, params), func(page *api.ListPrealertsResult) []api.Prealert { return page.Data })
}

// CustomerPages iterates over the pages of the list of customers.
func (c *Client) CustomerPages(ctx context.Context, params api.ListCustomersParams) iter.Seq2[*api.CustomerPage, error] {
	return pages(params.Page, func(page int) (*api.CustomerPage, bool, error) {
		params.Page = &page
		response, err := c.ListCustomersWithResponse(ctx, &params)
		if err != nil {
			return nil, false, err
		}
		result, err := response.JSON200.AsCustomerPage()
		if err != nil {
			return nil, false, err
		}
		perPage := customersPerPage
		if params.Limit != nil {
			perPage = *params.Limit
		}
		return &result, page*perPage < result.Total, nil
	})
}

// customersPerPage is the default of the contract.
const customersPerPage = 20

// Customers iterates over all customers that match.
func (c *Client) Customers(ctx context.Context, params api.ListCustomersParams) iter.Seq2[api.Customer, error] {
	return records(c.CustomerPages(ctx, params), func(page *api.CustomerPage) []api.Customer { return page.Data })
}

// PackagePages iterates over the pages of a search for packages.
func (c *Client) PackagePages(ctx context.Context, search api.PackageSearch) iter.Seq2[*api.ListPackagesResult, error] {
	return pages(search.Page, func(page int) (*api.ListPackagesResult, bool, error) {
		search.Page = &page
		response, err := c.ListPackagesWithResponse(ctx, nil, search)
		if err != nil {
			return nil, false, err
		}
		return response.JSON200, page < response.JSON200.Meta.TotalPages, nil
	})
}

// Packages iterates over all packages that match.
func (c *Client) Packages(ctx context.Context, search api.PackageSearch) iter.Seq2[api.PackageRecord, error] {
	return records(c.PackagePages(ctx, search), func(page *api.ListPackagesResult) []api.PackageRecord { return page.Data })
}

// Event is a change to a package. Its type says which As method returns the whole event, for example AsPackageCreatedEvent.
type Event struct {
	api.CourierEvent
	Type     string
	EventID  string
	Sequence int
}

// Events iterates over the events of a courier after the sequence number params.After, to the newest one. Store the sequence
// number of the last event that you processed, and continue there the next time.
func (c *Client) Events(ctx context.Context, params api.ListEventsParams) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			response, err := c.ListEventsWithResponse(ctx, &params)
			if err != nil {
				yield(Event{}, err)
				return
			}
			result := response.JSON200
			for _, record := range result.Data {
				if !yield(eventOf(record)) {
					return
				}
			}
			if !result.Meta.HasMore {
				return
			}
			params.After = &result.Meta.NextAfter
		}
	}
}

func eventOf(record api.CourierEvent) (Event, error) {
	// All types of events have these fields.
	event, err := record.AsPackageCreatedEvent()
	return Event{record, string(event.Type), event.EventID.String(), event.Sequence}, err
}

// pages iterates over pages. The function returns a page and whether there is another one.
func pages[P any](first *int, read func(page int) (P, bool, error)) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		page := 1
		if first != nil {
			page = *first
		}
		for ; ; page++ {
			result, hasMore, err := read(page)
			if !yield(result, err) || err != nil || !hasMore {
				return
			}
		}
	}
}

func records[P, R any](pages iter.Seq2[P, error], recordsOf func(P) []R) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for page, err := range pages {
			if err != nil {
				var none R
				yield(none, err)
				return
			}
			for _, record := range recordsOf(page) {
				if !yield(record, nil) {
					return
				}
			}
		}
	}
}
