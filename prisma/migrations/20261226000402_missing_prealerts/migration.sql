-- upgrade: rolling
-- reviewed: constraint events.type_is_known changed: it accepts all that the one that it replaces accepts.
-- A carrier says that an announced parcel is delivered, and the warehouse has not scanned it (docs/decisions/0150).

-- When the courier was told, once.
alter table prealerts add column missing_at timestamptz(3);

-- After how many hours a parcel is missing. Servers of the previous release do not read it.
alter table tenant_settings add column missing_after_hours integer default 24;
alter table tenant_settings add constraint missing_hours_are_bounded check (missing_after_hours is not null and missing_after_hours between 1 and 720) not valid;

-- Validated by the next migration, so that this one holds its locks for a moment only.
alter table events drop constraint type_is_known;
alter table events add constraint type_is_known check (type in ('package.created', 'package.status_changed', 'package.updated',
  'prealert.received', 'prealert.flagged', 'prealert.claimed', 'prealert.reopened', 'prealert.missing',
  'bill.published', 'bill.paid', 'bill.reopened', 'bill.overdue', 'manifest.departed', 'manifest.arrived', 'webhook.test')) not valid;
