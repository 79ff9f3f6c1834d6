-- upgrade: rolling
-- What users have chosen for the console (docs/decisions/0143). Servers of the previous release do not read it.
create table user_preferences (
  tenant_id uuid not null,
  user_id uuid not null,
  language text,
  theme text,
  views jsonb not null default '[]',
  columns jsonb not null default '[]',
  updated_at timestamptz(3),

  constraint user_preferences_pkey primary key (tenant_id, user_id),
  constraint user_preferences_tenant_id_user_id_fkey foreign key (tenant_id, user_id) references users (tenant_id, id)
    on delete cascade on update restrict,
  constraint user_preferences_language_is_known check (language in ('en', 'es')),
  constraint user_preferences_theme_is_known check (theme in ('system', 'light', 'dark')),
  -- The service's own limit is 32 KiB, without the spaces that PostgreSQL writes.
  constraint user_preferences_size_is_bounded check (octet_length(views::text) + octet_length(columns::text) <= 65536)
);

alter table user_preferences enable row level security;
alter table user_preferences force row level security;
-- As the other tables of accounts: in the scope of the whole tenant only. Every statement names the user.
create policy staff_scope on user_preferences
  using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
  with check (tenant_id = app_tenant() and (select app_sees_all_couriers()));

grant select, insert, update on user_preferences to crossdock_app;
