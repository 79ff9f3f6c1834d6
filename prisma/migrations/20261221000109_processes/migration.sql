-- upgrade: rolling
-- The servers and workers that run, with fingerprints of the encryption keys that they have. `rewrap` encrypts nothing with a key that one of
-- them lacks. Servers of the previous release are not recorded.
create table installation.processes (
  id uuid primary key,
  -- The kind, the host and the process id.
  name text not null,
  encryption_keys text[] not null,
  started_at timestamptz not null default now(),
  -- Written every 15 seconds while the process runs.
  seen_at timestamptz not null default now()
);

grant select, insert, update, delete on installation.processes to crossdock_app;
