select id as order_id, customer_id, status, amount, ordered_on from {{ ref('raw_orders') }}
