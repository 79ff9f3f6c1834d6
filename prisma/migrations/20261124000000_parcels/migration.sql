-- What the warehouse scans and measures belongs to the warehouse (decision 0026).

-- AlterTable
ALTER TABLE "packages" ADD COLUMN     "claimed_by" UUID;

-- CreateTable
CREATE TABLE "prealert_flags" (
    "tenant_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "tracking_key" TEXT NOT NULL,
    "kept_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "prealert_flags_pkey" PRIMARY KEY ("tenant_id","courier_id","tracking_key")
);

-- CreateTable
CREATE TABLE "package_weights" (
    "tenant_id" UUID NOT NULL,
    "package_id" UUID NOT NULL,
    "received_weight_lb" DECIMAL(8,3) NOT NULL,

    CONSTRAINT "package_weights_pkey" PRIMARY KEY ("tenant_id","package_id")
);

-- AddForeignKey
ALTER TABLE "package_weights" ADD CONSTRAINT "package_weights_tenant_id_package_id_fkey" FOREIGN KEY ("tenant_id", "package_id") REFERENCES "packages"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "prealert_flags" ADD CONSTRAINT "prealert_flags_tenant_id_courier_id_fkey" FOREIGN KEY ("tenant_id", "courier_id") REFERENCES "couriers"("tenant_id", "id") ON DELETE RESTRICT ON UPDATE RESTRICT;


-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say.

-- Flags that a courier has taken off its list ------------------------------------------------------------
-- A courier adds them and reads them; only staff remove them.

alter table prealert_flags enable row level security;
alter table prealert_flags force row level security;

create policy courier_scope on prealert_flags for select
  using (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
create policy courier_appends on prealert_flags for insert
  with check (tenant_id = app_tenant() and ((select app_sees_all_couriers()) or courier_id = (select app_courier())));
create policy staff_clears on prealert_flags for delete
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()));

grant select, insert, delete on prealert_flags to crossdock_app;

-- The migration reads and writes rows of all tenants; the tables' own policies would hide them from an owner that is no
-- superuser.
alter table packages no force row level security;
alter table prealerts no force row level security;
alter table prealert_tallies no force row level security;
alter table audit_entries no force row level security;
alter table audit_unsealed no force row level security;

-- The weight at intake -----------------------------------------------------------------------------------
-- Stored with the first change of a weight, and never changed. The policy lets staff alone write it, so that the database
-- refuses a courier's change of a weight too. The audit log has the weight before the first change of stored packages.

insert into package_weights (tenant_id, package_id, received_weight_lb)
select distinct on (e.tenant_id, e.entity_id) e.tenant_id, e.entity_id, (e.before ->> 'weight_lb')::numeric
from audit_entries e join packages p on p.tenant_id = e.tenant_id and p.id = e.entity_id
where e.entity = 'package' and e.action = 'package.updated' and e.before -> 'weight_lb' is not null
order by e.tenant_id, e.entity_id, e.at, e.id;

create function keep_received_weight() returns trigger
language plpgsql as $$
begin
  insert into package_weights (tenant_id, package_id, received_weight_lb) values (old.tenant_id, old.id, old.weight_lb)
  on conflict (tenant_id, package_id) do nothing;
  return null;
end $$;

create trigger keep_received_weight after update of weight_lb on packages
  for each row when (old.weight_lb <> new.weight_lb) execute function keep_received_weight();

alter table package_weights enable row level security;
alter table package_weights force row level security;

create policy staff_reads on package_weights for select
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()));
create policy staff_appends on package_weights for insert
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

create trigger append_only before update on package_weights
  for each statement execute function refuse_change();

grant select, insert on package_weights to crossdock_app;

-- Tracking keys ------------------------------------------------------------------------------------------
-- The same rule as src/modules/tracking-numbers/tracking-key.ts; a test compares the two.

-- Whether the last digit is the check digit of the others: weights 1, 3, 7 from the right, modulo 11, modulo 10.
create function has_fedex_check_digit(p_digits text) returns boolean
language sql immutable parallel safe
return (
  select sum(substr(p_digits, length(p_digits) - place, 1)::int * (array[1, 3, 7])[(place - 1) % 3 + 1]) % 11 % 10
  from generate_series(1, length(p_digits) - 1) as place
) = right(p_digits, 1)::int;

create function tracking_key_of(p_number text) returns text
language plpgsql immutable parallel safe as $$
declare
  usps constant text := '(9(?:[0-9]{19}|[0-9]{21}|[0-9]{25}|[0-9]{29}))$';
  found text := coalesce(substring(p_number from '^420[0-9]{9}' || usps), substring(p_number from '^420[0-9]{5}' || usps));
begin
  if found is not null then
    return found;
  end if;
  if p_number ~ '^([0-8][0-9]|96)[0-9]{32}$' then
    if has_fedex_check_digit(right(p_number, 14)) then
      return regexp_replace(right(p_number, 14), '^00', '');
    elsif p_number ~ '^(96|10|11)' then
      return right(p_number, 12);
    end if;
  elsif p_number ~ '^3[0-9]{31}$' and has_fedex_check_digit(substr(p_number, 17, 12)) then
    return substr(p_number, 17, 12);
  end if;
  return p_number;
end $$;

-- Stored rows get the new keys. Where two packages would share one, the one received first gets it and the other keeps
-- its own; so it is where another package has the key already.
update packages p set tracking_key = fresh.tracking_key
from (
  select tenant_id, id, tracking_key, row_number() over (partition by tenant_id, tracking_key order by received_at, id) as place
  from (
    select tenant_id, id, received_at, tracking_key_of(tracking_number) as tracking_key from packages
    where tracking_number ~ '^[0-9]{32}([0-9]{2})?$' and tracking_key <> tracking_key_of(tracking_number)
  ) as changed
) as fresh
where p.tenant_id = fresh.tenant_id and p.id = fresh.id and fresh.place = 1
  and not exists (select from packages other where other.tenant_id = fresh.tenant_id and other.tracking_key = fresh.tracking_key);

update prealerts set tracking_key = tracking_key_of(tracking_number)
where tracking_number ~ '^[0-9]{32}([0-9]{2})?$' and tracking_key <> tracking_key_of(tracking_number);

-- Pre-alerts whose parcel came in unrecognised: received where the package is their customer's, else flagged, so that
-- staff see them. Labels that were recognised before have had their answer.
with missed as (
  select a.tenant_id, a.id,
    case when p.courier_id = a.courier_id and p.user_code = a.user_code then 'received' else 'flagged' end as status
  from prealerts a join packages p on p.tenant_id = a.tenant_id and p.tracking_key = a.tracking_key
  where a.status = 'pending' and exists (
    select from (values (a.tracking_number), (p.tracking_number)) as label (number)
    where label.number ~ '^[0-9]{32}([0-9]{2})?$' and label.number !~ '^(96|10|420)' and label.number <> a.tracking_key)
), settled as (
  update prealerts a set status = missed.status, updated_at = now()
  from missed where a.tenant_id = missed.tenant_id and a.id = missed.id
  returning a.tenant_id, a.id, a.status
)
insert into audit_entries (tenant_id, id, actor_kind, action, entity, entity_id, before, after, remarks, request_id)
select tenant_id, new_id(), 'system', 'prealert.' || status, 'prealert', id, '{"status": "pending"}',
  jsonb_build_object('status', status), 'FedEx label recognised by migration 20261124000000_parcels', 'background'
from settled;

alter table packages force row level security;
alter table prealerts force row level security;
alter table prealert_tallies force row level security;
alter table audit_entries force row level security;
alter table audit_unsealed force row level security;
