-- E-mail addresses of users, mail about their accounts, and password resets by e-mail.

alter table users add column "email" TEXT;

-- CreateTable
CREATE TABLE "account_mails" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "address" TEXT,
    "user_agent" TEXT,
    "secret_cipher" TEXT,
    "status" TEXT NOT NULL DEFAULT 'queued',
    "recipient" TEXT NOT NULL,
    "attempt_count" SMALLINT NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "account_mails_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "password_resets" (
    "tenant_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "username" TEXT NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "user_id" UUID,
    "token_hash" TEXT,
    "token_version" INTEGER,
    "recipient" TEXT,
    "expires_at" TIMESTAMPTZ(3),
    "consumed_at" TIMESTAMPTZ(3),

    CONSTRAINT "password_resets_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateIndex
CREATE INDEX "account_mails_tenant_id_user_id_idx" ON "account_mails"("tenant_id", "user_id");

-- CreateIndex
CREATE INDEX "account_mails_tenant_id_created_at_idx" ON "account_mails"("tenant_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "password_resets_tenant_id_token_hash_key" ON "password_resets"("tenant_id", "token_hash");

-- CreateIndex
CREATE INDEX "password_resets_tenant_id_user_id_idx" ON "password_resets"("tenant_id", "user_id");

-- CreateIndex
CREATE INDEX "password_resets_tenant_id_requested_at_idx" ON "password_resets"("tenant_id", "requested_at");

-- AddForeignKey
ALTER TABLE "account_mails" ADD CONSTRAINT "account_mails_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- AddForeignKey
ALTER TABLE "password_resets" ADD CONSTRAINT "password_resets_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users"("tenant_id", "id") ON DELETE CASCADE ON UPDATE RESTRICT;

-- ---------------------------------------------------------------------------------------------------
-- From here on: what schema.prisma cannot say.

-- Row-level security: no courier reads or writes these.
do $$
declare
  name text;
begin
  foreach name in array array['account_mails', 'password_resets']
  loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format(
      'create policy staff_scope on %I
       using (tenant_id = app_tenant() and (select app_sees_all_couriers()))
       with check (tenant_id = app_tenant() and (select app_sees_all_couriers()))', name);
  end loop;
end $$;

grant select, insert, update, delete on account_mails, password_resets to crossdock_app;

-- Invariants -------------------------------------------------------------------------------------------

alter table users
  add constraint email_is_one_line check (email <> '' and email !~ '[[:cntrl:]]' and length(email) <= 254);

alter table account_mails
  add constraint status_is_known check (status in ('queued', 'sent', 'failed', 'skipped')),
  add constraint kind_is_known check (kind in ('new_network', 'password_changed', 'password_reset', 'password_reset_by_admin',
    'password_reset_link', 'two_factor_enabled', 'two_factor_disabled', 'two_factor_reset_by_admin',
    'backup_codes_regenerated', 'email_changed')),
  add constraint secrets_are_not_kept check (secret_cipher is null or status = 'queued');

alter table password_resets
  add constraint a_token_is_whole check (num_nulls(user_id, token_hash, token_version, recipient, expires_at) in (0, 5)),
  add constraint only_a_token_is_consumed check (consumed_at is null or token_hash is not null);

alter table login_throttles drop constraint kind_is_known;
alter table login_throttles add constraint kind_is_known check (kind in ('password', 'code', 'password_reset'));

-- What the metrics count ---------------------------------------------------------------------------------

create policy backlog_reads on account_mails for select to crossdock_lookup using (true);
grant select (status, created_at) on account_mails to crossdock_lookup;
create index account_mails_queued on account_mails (tenant_id, created_at) where status = 'queued';

create or replace function outbound_backlog(
  out pending_deliveries bigint, out oldest_due_delivery_seconds double precision, out paused_endpoints bigint,
  out queued_mails bigint, out oldest_queued_mail_seconds double precision,
  out open_syncs bigint, out oldest_open_sync_seconds double precision)
language sql stable security definer set search_path = public, pg_temp as $$
  select
    deliveries.pending, greatest(0, coalesce(extract(epoch from now() - deliveries.oldest), 0)),
    endpoints.paused,
    mails.queued, greatest(0, coalesce(extract(epoch from now() - mails.oldest), 0)),
    runs.open, greatest(0, coalesce(extract(epoch from now() - runs.oldest), 0))
  from
    (select count(*) as pending, min(next_attempt_at) as oldest from webhook_deliveries
     where status = 'pending') as deliveries,
    (select count(*) as paused from webhook_endpoints where paused_at is not null) as endpoints,
    (select count(*) as queued, min(created_at) as oldest from (
       select created_at from manifest_mails where status = 'queued'
       union all
       select created_at from account_mails where status = 'queued') as queued) as mails,
    (select count(*) as open, min(created_at) as oldest from customer_sync_runs
     where status in ('queued', 'running')) as runs
$$;
