-- upgrade: rolling
-- The fields that a call was refused for. Servers of the previous release do not write them.
alter table api_calls add column refused jsonb;
