-- upgrade: rolling
-- Why the last request to a URL failed (docs/decisions/0126). A release without these columns leaves the reason of an earlier failure.
alter table webhook_endpoints
  add column last_failure_outcome text,
  add column last_failure_status smallint,
  add column last_failure_error text;
