-- upgrade: rolling
-- A courier belongs to one tenant. Without these statistics, PostgreSQL multiplies the shares of both, expects a single row of a small
-- tenant's courier, and may read all of the courier's customers to find one by its code (docs/decisions/0066).
create statistics customers_of_courier (dependencies, ndistinct) on tenant_id, courier_id from customers;

create statistics prealerts_of_courier (dependencies, ndistinct) on tenant_id, courier_id from prealerts;

create statistics packages_of_courier (dependencies, ndistinct) on tenant_id, courier_id from packages;
