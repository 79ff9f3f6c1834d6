-- upgrade: rolling
-- reviewed: constraint events.type_is_known changed: it accepts all that the one that it replaces accepts.
-- reviewed: function keep_published_bill() changed: it refuses what it refused, but for the new column.
-- Each URL of a courier has a list of the event types that it gets (docs/decisions/0145). Servers of the previous release do not read it: until
-- the last of them has stopped, a URL may get its usual types although its list has others.

-- The types that each URL has always had.
alter table couriers
  add column add_package_events text[] default array['package.created'],
  add column update_package_events text[] default array['package.status_changed', 'package.updated'],
  add constraint events_are_listed check (add_package_events is not null and update_package_events is not null) not valid;

-- Validated by the next migration, so that this one holds its locks for a moment only.
alter table events drop constraint type_is_known;
alter table events add constraint type_is_known check (type in ('package.created', 'package.status_changed', 'package.updated',
  'prealert.received', 'prealert.flagged', 'prealert.claimed', 'prealert.reopened',
  'bill.published', 'bill.paid', 'bill.reopened', 'bill.overdue', 'manifest.departed', 'manifest.arrived', 'webhook.test')) not valid;

-- A published bill records once that it was overdue.
alter table bills add column overdue_at timestamptz(3);
create or replace function keep_published_bill() returns trigger
language plpgsql as $$
declare
  moving constant text[] := array['status', 'paid_amount', 'overdue_at'];
begin
  if old.status = 'draft' then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' or new.status = 'draft' or to_jsonb(new) - moving <> to_jsonb(old) - moving then
    raise exception 'bill % is published', old.id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end $$;
