select order_id, customer_id, status, amount
from {{ ref('stg_orders') }}
where status in ('placed', 'shipped')
