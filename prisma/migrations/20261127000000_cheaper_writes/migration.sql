-- The same policies, written so that a write costs less (decision 0045). No row becomes visible or writable.
--
-- In a sub-select, PostgreSQL calls a function once per statement, but builds a plan node for it in every statement. That
-- pays for a read of many rows. It does not pay for the check of a new row, because most statements write one row, nor for
-- the tables of which a statement reads a few rows.
--
-- The tables are in the order in which requests use them, so that the locks of this migration do not deadlock with the
-- requests of running servers.

alter policy courier_scope on couriers
  using (tenant_id = app_tenant() and (app_sees_all_couriers() or id = app_courier()))
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or id = app_courier()));

alter policy courier_scope on customers
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()));

alter policy courier_scope on prealert_flags
  using (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()));
alter policy courier_appends on prealert_flags
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()));

alter policy courier_scope on packages
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()));

alter policy courier_scope on package_tallies
  using (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()))
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()));

alter policy courier_appends on package_events
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()));

alter policy courier_scope on prealerts
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()));

alter policy courier_scope on prealert_tallies
  using (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()))
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or courier_id = app_courier()));

alter policy tenant_appends on audit_entries
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or app_courier() is not null));

-- One policy per command, because PostgreSQL evaluates all policies of a command.
drop policy staff_seals on audit_unsealed;
create policy staff_reads on audit_unsealed for select
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()));
create policy staff_removes on audit_unsealed for delete
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()));
alter policy tenant_appends on audit_unsealed
  with check (tenant_id = app_tenant() and (app_sees_all_couriers() or app_courier() is not null));
