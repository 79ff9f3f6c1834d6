-- A payment is never rewritten: the application may void it, and nothing else.

revoke update on bill_payments from crossdock_app;
grant update (voided_at, void_reason) on bill_payments to crossdock_app;
