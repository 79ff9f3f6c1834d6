-- upgrade: rolling
-- Whether headers of a response were left out or cut (docs/decisions/0126). A release without this column stores up to 50 headers.
alter table webhook_exchanges add column response_headers_are_cut boolean not null default false;
