-- upgrade: rolling
-- Whether outbound work is paused, and on which server the service last ran. A restored backup runs on another one, and must
-- not send what was sent before (docs/decisions/0058). The table has one row.
create table installation.outbound (
  id boolean primary key default true check (id),
  -- The system identifier and the timeline of the server; null before the first start.
  server text,
  paused_at timestamptz,
  paused_because text,
  check ((paused_at is null) = (paused_because is null))
);

insert into installation.outbound default values;

grant select, update on installation.outbound to crossdock_app;
