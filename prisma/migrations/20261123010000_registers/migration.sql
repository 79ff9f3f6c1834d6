-- The registers that staff keep themselves: couriers with their first users, warehouses, carriers.

-- What a password that was given to a user, and not chosen by it, is known by; 20261123020000_users needs it too.
alter table users
  add column if not exists must_change_password boolean not null default false,
  add column if not exists password_expires_at timestamptz(3);

-- Names are told apart as people do: neither case nor blanks around one make another of it.
create unique index carriers_one_of_a_name on carriers (tenant_id, lower(btrim(name)));
create unique index warehouses_one_of_a_name on warehouses (tenant_id, lower(btrim(name)));

alter table couriers add constraint name_not_blank check (btrim(name) <> '');
alter table carriers add constraint name_not_blank check (btrim(name) <> '');
alter table warehouses add constraint name_not_blank check (btrim(name) <> '');

-- That at most one is primary, the index warehouses_one_primary holds. Deferred, because whoever moves the mark
-- has none for a moment.
create function hold_one_primary_warehouse() returns trigger
language plpgsql as $$
declare
  tenant constant uuid := coalesce(new.tenant_id, old.tenant_id);
begin
  if exists (select from warehouses w where w.tenant_id = tenant)
    and not exists (select from warehouses w where w.tenant_id = tenant and w.is_primary)
  then
    raise exception 'tenant % has warehouses and no primary one', tenant using errcode = 'integrity_constraint_violation';
  end if;
  return null;
end $$;

create constraint trigger one_is_primary after insert or update or delete on warehouses
  deferrable initially deferred
  for each row execute function hold_one_primary_warehouse();
