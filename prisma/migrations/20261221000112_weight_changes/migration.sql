-- upgrade: rolling
-- The two weights of an event that a later scan of the receipt has caused, for clients that do not show the English remarks. Servers of the
-- previous release write neither, so the events of an upgrade have only the remarks. Null in all other events.
alter table package_events
  add column previous_weight_lb numeric(8, 3),
  add column weight_lb numeric(8, 3);
