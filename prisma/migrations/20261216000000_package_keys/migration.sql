-- upgrade: background
-- Packages get the keys of decision 0072. The reader of scans computes them, in the worker: docs/migrations.md, "Computed batches".

-- How many rows a background migration has reported, for example packages that are stored twice.
alter table installation.background_migrations add column findings integer not null default 0;
grant update (findings) on installation.background_migrations to crossdock_app;

-- USPS: weights 3 and 1 from the right, modulo 10.
create function has_usps_check_digit(p_digits text) returns boolean
language sql immutable parallel safe
return (
  select (10 - sum(substr(p_digits, length(p_digits) - place, 1)::int * (array[3, 1])[(place - 1) % 2 + 1]) % 10) % 10
  from generate_series(1, length(p_digits) - 1) as place
) = right(p_digits, 1)::int;

-- The same rule as src/modules/tracking-numbers/tracking-key.ts; a test compares the two. Of two numbers in a barcode of USPS, the
-- check digit decides, next the identifier.
create or replace function tracking_key_of(p_number text) returns text
language plpgsql immutable parallel safe as $$
declare
  usps constant text := '(9(?:[0-9]{19}|[0-9]{21}|[0-9]{25}|[0-9]{29}))$';
  long constant text := substring(p_number from '^420[0-9]{9}' || usps);
  short constant text := substring(p_number from '^420[0-9]{5}' || usps);
begin
  if long is not null and short is not null then
    return case
      when 2 * has_usps_check_digit(short)::int + (short ~ '^9[1-5]')::int
         > 2 * has_usps_check_digit(long)::int + (long ~ '^9[1-5]')::int then short
      else long end;
  elsif coalesce(long, short) is not null then
    return coalesce(long, short);
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
