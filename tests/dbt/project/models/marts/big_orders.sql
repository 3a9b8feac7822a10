select order_id, customer_id, amount from {{ ref('orders_completed') }} where amount >= 100
