-- Deliveries of one transaction are due at the same moment. With the id, their order comes from the index; without it, each
-- claim of a few deliveries sorted all of them.
drop index webhook_deliveries_due;
create index webhook_deliveries_due on webhook_deliveries (tenant_id, courier_id, endpoint, next_attempt_at, id)
  where status = 'pending';
