-- upgrade: rolling
-- reviewed: constraint events.type_is_known changed: it is only validated.
-- reviewed: constraint couriers.events_are_listed changed: it is only validated.
-- Validates what the migration before has added and replaced. Readers and writers go on meanwhile.
alter table couriers validate constraint events_are_listed;
alter table events validate constraint type_is_known;
