select customer_id, name
from {{ ref('stg_customers') }} as c
where exists (select 1 from {{ ref('stg_orders') }} as o where o.customer_id = c.customer_id)
