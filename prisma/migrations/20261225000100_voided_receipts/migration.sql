-- upgrade: rolling
-- reviewed: constraint package_events.package_events_tenant_id_package_id_fkey changed: it accepts all that the one that it replaces accepts.
-- reviewed: trigger append_only on package_events changed: it refuses updates as before. The previous release deletes no history.
-- reviewed: trigger keep_history on package_events added: it runs for deletes only, and the previous release deletes no history.
-- reviewed: restrictive policy staff_voids on packages added: it refuses deletes only, and the previous release deletes no packages.
-- Staff can void a receipt that was a mistake (docs/decisions/0138). Then the package is deleted, with its history.

-- Validated by the next migration, so that this one holds its locks for a moment only.
alter table package_events drop constraint package_events_tenant_id_package_id_fkey;
alter table package_events add constraint package_events_tenant_id_package_id_fkey
  foreign key (tenant_id, package_id) references packages (tenant_id, id) on delete cascade on update restrict not valid;

-- The history of a package is appended, and goes only with the package. The function sees the packages of all tenants, because a delete by
-- anybody who sees none would pass otherwise.
create function keep_history() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from packages p where p.tenant_id = old.tenant_id and p.id = old.package_id) then
    raise exception 'package_events is append-only' using errcode = 'integrity_constraint_violation';
  end if;
  return old;
end $$;
grant create on schema public to crossdock_lookup;
alter function keep_history() owner to crossdock_lookup;
revoke create on schema public from crossdock_lookup;
revoke all on function keep_history() from public;

create trigger keep_history before delete on package_events for each row execute function keep_history();
drop trigger append_only on package_events;
create trigger append_only before update on package_events for each statement execute function refuse_change();

-- Only staff delete packages. The policy of all commands lets a courier do so.
create policy staff_voids on packages as restrictive for delete
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()));

-- The scans of a voided receipt stay until the retention, so that a station that sends one again receives nothing.
alter table scans add column voided_at timestamptz(3);
grant update (voided_at) on scans to crossdock_app;
