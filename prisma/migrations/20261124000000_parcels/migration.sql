-- What the warehouse scans and measures belongs to the warehouse (decision 0026).

-- AlterTable
ALTER TABLE "packages" ADD COLUMN     "claimed_by" UUID,
ADD COLUMN     "received_weight_lb" DECIMAL(8,3);

-- CreateTable
CREATE TABLE "prealert_flags" (
    "tenant_id" UUID NOT NULL,
    "courier_id" UUID NOT NULL,
    "tracking_key" TEXT NOT NULL,
    "kept_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "prealert_flags_pkey" PRIMARY KEY ("tenant_id","courier_id","tracking_key")
);

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
-- Null while the weight is still the first. The audit log has the weight before the first change.

update packages p set received_weight_lb = first_change.weight_lb
from (
  select distinct on (tenant_id, entity_id) tenant_id, entity_id, (before ->> 'weight_lb')::numeric as weight_lb
  from audit_entries
  where entity = 'package' and action = 'package.updated' and before -> 'weight_lb' is not null
  order by tenant_id, entity_id, at, id
) as first_change
where p.tenant_id = first_change.tenant_id and p.id = first_change.entity_id;

-- Nobody may change what was kept, whatever a statement sets.
create function keep_received_weight() returns trigger
language plpgsql as $$
begin
  new.received_weight_lb := coalesce(old.received_weight_lb,
    case when new.weight_lb <> old.weight_lb then old.weight_lb end);
  return new;
end $$;

create trigger keep_received_weight before update of weight_lb, received_weight_lb on packages
  for each row when (new.weight_lb <> old.weight_lb or new.received_weight_lb is distinct from old.received_weight_lb)
  execute function keep_received_weight();

-- Tracking keys ------------------------------------------------------------------------------------------
-- The same rule as src/tracking-key.ts; a test compares the two.

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
