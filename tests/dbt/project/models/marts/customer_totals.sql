select customer_id, count(*) as orders, sum(amount) as total
from {{ ref('orders_completed') }}
group by customer_id
