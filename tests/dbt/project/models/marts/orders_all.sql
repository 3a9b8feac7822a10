select * from {{ ref('orders_completed') }}
union all
select * from {{ ref('orders_returned') }}
union all
select * from {{ ref('orders_open') }}
